// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

// .npy files: sound ones, and each way to be unsound.

#include "tools/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/machine/temp_tree.h"
#include "tests/tools/npy_files.h"

namespace lanewise::npy {
namespace {

using machine::TempTree;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string ErrorOf(const std::string& file) {
  const Result<Array> array = ParseText(file);
  EXPECT_FALSE(array.ok()) << file;
  return array.status().message();
}

Array Numbered(DataType type, std::vector<int64_t> shape) {
  Array array;
  array.type = type;
  array.shape = std::move(shape);
  array.data.resize(static_cast<size_t>(array.ElementCount()) * ElementBytes(type));
  for (size_t i = 0; i < array.data.size(); ++i) array.data[i] = static_cast<std::byte>(i * 7);
  return array;
}

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t FilesIn(const std::string& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(NpyTest, RoundTripsEveryRankAndType) {
  const TempTree tree;
  const std::string path = tree.Path("a.npy");
  const std::vector<std::vector<int64_t>> shapes = {
      {},     {5},          {1, 7},    {3, 4},       {2, 3, 4},        {2, 1, 3, 5},
      {0},    {0, 3},       {3, 0},    {2, 0, 4},    {0, 0, 0, 0},     {1, 1, 1, 1, 2},
      {1000}, {12, 166, 1}, {1, 2, 3}, {4, 3, 2, 1}, {70000, 1, 1, 1},
  };
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBool}) {
    for (const std::vector<int64_t>& shape : shapes) {
      const Array array = Numbered(type, shape);
      ASSERT_TRUE(Write(path, array).ok());
      const Result<Array> read = Read(path);
      ASSERT_TRUE(read.ok()) << read.status().message();
      EXPECT_EQ(read->type, type);
      EXPECT_EQ(read->shape, shape);
      EXPECT_EQ(read->data, array.data);
    }
  }
  EXPECT_EQ(FilesIn(tree.root()), 1U) << "temporary files were left behind";
}

TEST(NpyTest, WritesWhatNumPyWrites) {
  const std::string header = Header(Numbered(DataType::kF32, {2, 3}));
  EXPECT_EQ(header.size(), 128U);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_THAT(header.substr(10),
              StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   "));
  EXPECT_EQ(header.back(), '\n');
  EXPECT_THAT(Header(Numbered(DataType::kF16, {4})), HasSubstr("'<f2', 'fortran_order': False, "
                                                               "'shape': (4,), }"));
  EXPECT_THAT(Header(Numbered(DataType::kBool, {})), HasSubstr("'|b1', 'fortran_order': False, "
                                                               "'shape': (), }"));
  for (int64_t size = 1; size < 1'000'000'000'000; size = size * 3 + 1) {
    Array array;
    array.shape = {size, 0, size};
    EXPECT_EQ(Header(array).size() % 64, 0U) << size;
  }
}

TEST(NpyTest, ReadsTheStoredFiles) {
  const Result<Array> array = Read(LANEWISE_TEST_DATA "/minilm_layer0_q.npy");
  ASSERT_TRUE(array.ok()) << array.status().message();
  EXPECT_EQ(array->type, DataType::kF32);
  EXPECT_EQ(array->shape, (std::vector<int64_t>{12, 166, 32}));
  double sum = 0;
  for (int64_t i = 0; i < array->ElementCount(); ++i) sum += std::abs(array->floats()[i]);
  EXPECT_GT(sum / static_cast<double>(array->ElementCount()), 0.1);
  EXPECT_LT(sum / static_cast<double>(array->ElementCount()), 10);
}

TEST(NpyTest, ReadsVersions2And3) {
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }\n";
  for (const char version : {'\x02', '\x03'}) {
    std::string file = "\x93NUMPY";
    file += {version, '\x00', static_cast<char>(dictionary.size()), '\x00', '\x00', '\x00'};
    const Result<Array> array = ParseText(file + dictionary + std::string(12, '\0'));
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->shape, std::vector<int64_t>{3});
    file[11] = '\x01';  // 16 MiB of header
    EXPECT_THAT(ErrorOf(file + dictionary), HasSubstr("beyond the end of the file"));
    EXPECT_THAT(ErrorOf(file.substr(0, 11)), HasSubstr("11 bytes, too short"));
  }
}

TEST(NpyTest, TakesAnyOrderAndWhiteSpace) {
  for (const char* dictionary : {
           "{'descr':'<f4','fortran_order':False,'shape':(2,3)}",
           "{\"shape\": (2, 3,), \"descr\": \"<f4\", 'fortran_order': False}",
           "  {  'fortran_order' :\tFalse ,\n 'shape' : ( 2 , 3 ) , 'descr' : '<f4' , }  \n\n ",
       }) {
    const Result<Array> array = ParseText(File(dictionary, 24));
    ASSERT_TRUE(array.ok()) << array.status().message();
    EXPECT_EQ(array->shape, (std::vector<int64_t>{2, 3}));
  }
}

TEST(NpyTest, NamesTypesItDoesNotRead) {
  const auto error_of_type = [](const std::string& descr) {
    const Result<Array> array =
        ParseText(File("{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }", 4));
    EXPECT_EQ(array.status().code(), StatusCode::kUnsupported) << descr;
    return array.status().message();
  };
  for (const char* descr : {"<f8", "<i4", "|u1", "|i1", "|O", "O", "<c8", "<U1", "|S4", "|V2",
                            "=f4", "f4", "float32", "<f4 ", "", "<M8[ns]"}) {
    EXPECT_THAT(error_of_type("'" + std::string(descr) + "'"),
                AllOf(StartsWith("x.npy: dtype '" + std::string(descr) + "'"), HasSubstr("'<f4'"),
                      HasSubstr("'<f2'"), HasSubstr("'|b1'")));
  }
  EXPECT_THAT(error_of_type("'>f4'"), AllOf(HasSubstr("big-endian"), HasSubstr("'<f4'")));
  EXPECT_THAT(error_of_type("'>f2'"), AllOf(HasSubstr("big-endian"), HasSubstr("'<f2'")));
  // A structured type is a list.
  EXPECT_THAT(
      ErrorOf(File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4)),
      AllOf(HasSubstr("[('a', '<f4')]"), HasSubstr("expected a quoted string")));
  const Result<Array> fortran =
      ParseText(File("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", 24));
  EXPECT_EQ(fortran.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(fortran.status().message(), AllOf(HasSubstr("Fortran"), HasSubstr("C order")));
}

TEST(NpyTest, NamesWhatIsWrongWithShapes) {
  EXPECT_THAT(ErrorOf(FileOfShape("(-1,)", 4)), HasSubstr("size -1, expected 0 to"));
  EXPECT_THAT(ErrorOf(FileOfShape("(9223372036854775808,)", 4)),
              HasSubstr("size 9223372036854775808, expected 0 to 9223372036854775807"));
  EXPECT_THAT(ErrorOf(FileOfShape("(" + std::string(3000, '9') + ",)", 4)), HasSubstr("..."));
  EXPECT_THAT(ErrorOf(FileOfShape("(4294967296, 4294967296)", 4)),
              HasSubstr("(4294967296, 4294967296) needs more than 2^64 bytes"));
  EXPECT_THAT(ErrorOf(FileOfShape("(9223372036854775807, 1)", 4)), HasSubstr("2^64"));
  EXPECT_THAT(ErrorOf(FileOfShape("(2147483648, 2147483648)", 16)),
              HasSubstr("2^64"));  // 2^64 bytes, 0 in 64 bits
  for (const char* shape :
       {"(3)",    "3",      "[3]",     "(3",      "(3,",     "(,)",    "(3,,4)", "(3 4)",
        "(3.0,)", "(0x3,)", "(3L,)",   "(03,)",   "(+3,)",   "(--3,)", "(- 3,)", "(3_0,)",
        "('3',)", "None",   "(None,)", "(True,)", "((3,),)", ""}) {
    EXPECT_THAT(ErrorOf(FileOfShape(shape, 12)),
                AllOf(StartsWith("x.npy: header is malformed: "), HasSubstr("expected")))
        << shape;
  }
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1, ";
  EXPECT_THAT(ErrorOf(FileOfShape(many + ")", 4)), HasSubstr("more than 32 dimensions"));
  EXPECT_TRUE(ParseText(FileOfShape(many.substr(0, 1 + 3 * 32) + ")", 4)).ok());
}

// Sizes that would need terabytes are a contradiction to the length of the file, noticed before
// anything is allocated: not a lack of memory.
TEST(NpyTest, ComparesTheShapeWithTheDataBeforeItAllocates) {
  const Result<Array> array = ParseText(FileOfShape("(1099511627776,)", 8));
  EXPECT_EQ(array.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(array.status().message(),
            "x.npy: 8 bytes of data, but shape (1099511627776,) of f32 needs 4398046511104");
  EXPECT_THAT(ErrorOf(FileOfShape("(2, 3)", 23)), HasSubstr("23 bytes of data"));
  EXPECT_THAT(ErrorOf(FileOfShape("(2, 3)", 25)), HasSubstr("needs 24"));
  EXPECT_THAT(ErrorOf(FileOfShape("(0, 3)", 1)), HasSubstr("needs 0"));
  EXPECT_THAT(ErrorOf(FileOfShape("()", 0)), HasSubstr("needs 4"));
  // A size of 0 makes any other size harmless.
  EXPECT_TRUE(ParseText(FileOfShape("(9223372036854775807, 0, 9223372036854775807)", 0)).ok());
}

TEST(NpyTest, NamesWhatIsWrongWithTheHead) {
  const std::string good = FileOfShape("(2,)", 8);
  EXPECT_THAT(ErrorOf(""), HasSubstr("x.npy: 0 bytes, too short"));
  for (size_t length = 0; length < good.size(); ++length) {
    EXPECT_THAT(ErrorOf(good.substr(0, length)), StartsWith("x.npy: ")) << length;
  }
  EXPECT_THAT(ErrorOf("PK\x03\x04 an archive, perhaps"), HasSubstr("not a .npy file"));
  std::string file = good;
  file[6] = 4;
  EXPECT_THAT(ErrorOf(file), HasSubstr("version 4.0, expected 1.0, 2.0 or 3.0"));
  file[6] = 1;
  file[7] = 1;
  EXPECT_THAT(ErrorOf(file), HasSubstr("version 1.1"));
  file[7] = 0;
  file[9] = '\x7f';
  EXPECT_THAT(ErrorOf(file), HasSubstr("beyond the end of the file"));
  std::string large = "\x93NUMPY";
  large += {'\x02', '\x00', '\x00', '\x00', '\x02', '\x00'};
  large += "{'descr': '<f4', 'fortran_order': False, 'shape': (), }";
  large.resize(12 + 0x20000, ' ');
  EXPECT_THAT(ErrorOf(large), HasSubstr("header of 131072 bytes, expected at most 65536"));
}

TEST(NpyTest, NamesWhatIsWrongWithTheDictionary) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "the end at character 0, expected '{'"},
      {"[]", "expected '{'"},
      {"{}", "no key 'descr'"},
      {"{'descr': '<f4'}", "no key 'fortran_order'"},
      {"{'descr': '<f4', 'fortran_order': False}", "no key 'shape'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "key 'x'"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "'descr' twice"},
      {"{'shape': (1,), 'shape': (1,), 'descr': '<f4', 'fortran_order': False}", "'shape' twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'fortran_order': False, 'shape': (1,)}",
       "'fortran_order' twice"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "expected ','"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "expected the end"},
      {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", "expected ','"},
      {"{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}", "expected ':'"},
      {"{'descr': '<f4, ", "a quoted string that ends"},
      {"{'descr': '<f\\x34', 'fortran_order': False, 'shape': (1,)}", "without escapes"},
      {"{'descr': '<f4', 'fortran_order': false, 'shape': (1,)}", "expected True or False"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "expected True or False"},
      {"{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (1,)}", "expected True or False"},
      {"{,}", "expected a quoted string"},
      {"{descr: '<f4'}", "expected a quoted string"},
  };
  for (const auto& [dictionary, message] : cases) {
    EXPECT_THAT(ErrorOf(File(dictionary, 4)),
                AllOf(StartsWith("x.npy: header is malformed: "), HasSubstr(message)))
        << dictionary;
  }
  // What a hostile file holds does not reach a terminal.
  EXPECT_THAT(ErrorOf(File("{'\x1b[31m\xff': 1}", 0)), HasSubstr("key '?[31m?'"));
  EXPECT_THAT(ErrorOf(File(std::string("{\0}", 3), 0)), HasSubstr("'?}'"));
}

TEST(NpyTest, NamesFilesItCannotRead) {
  const TempTree tree;
  const auto error_of = [](const std::string& path) {
    const Result<Array> array = Read(path);
    EXPECT_EQ(array.status().code(), StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(array.status().message(), StartsWith(path + ": "));
    return array.status().message();
  };
  EXPECT_THAT(error_of(tree.Path("missing.npy")), HasSubstr("No such file"));
  EXPECT_THAT(error_of(tree.Path("missing/x.npy")), HasSubstr("No such file"));
  EXPECT_THAT(error_of(tree.root()), HasSubstr("is a directory"));
  EXPECT_THAT(error_of("/dev/null"), HasSubstr("not a regular file"));
  EXPECT_THAT(error_of(""), HasSubstr("No such file"));
  const std::string pipe = tree.Path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(error_of(pipe), HasSubstr("not a regular file"));
  tree.Write("secret.npy", FileOfShape("(1,)", 4));
  ASSERT_EQ(chmod(tree.Path("secret.npy").c_str(), 0), 0);
  if (geteuid() != 0) {
    EXPECT_THAT(error_of(tree.Path("secret.npy")), HasSubstr("Permission denied"));
  }
}

TEST(NpyTest, WritesAllOrNothing) {
  const TempTree tree;
  const Array array = Numbered(DataType::kF32, {4, 4});
  EXPECT_THAT(Write(tree.Path("missing/x.npy"), array).message(),
              AllOf(StartsWith(tree.Path("missing/x.npy")), HasSubstr("cannot be created")));
  EXPECT_THAT(Write(tree.root(), array).message(), HasSubstr("is a directory"));
  EXPECT_THAT(Write("", array).message(), HasSubstr("empty file name"));
  EXPECT_THAT(Write("/dev/full", array).message(), HasSubstr("/dev/full: cannot be written"));
  EXPECT_TRUE(Write("/dev/null", array).ok());
  EXPECT_EQ(FilesIn(tree.root()), 0U);
  {
    Result<tools::PendingFile> file = tools::PendingFile::Create(tree.Path("x.npy"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(WriteTo(*file, array).ok());
    EXPECT_FALSE(std::filesystem::exists(tree.Path("x.npy")));
  }
  EXPECT_EQ(FilesIn(tree.root()), 0U) << "an abandoned file was left behind";
}

TEST(NpyTest, ReplacesFilesAsTheyAre) {
  const TempTree tree;
  tree.Write("old.npy", "something else");
  ASSERT_EQ(chmod(tree.Path("old.npy").c_str(), 0640), 0);
  std::filesystem::create_symlink("old.npy", tree.Path("link.npy"));
  const Array array = Numbered(DataType::kF32, {3});
  ASSERT_TRUE(Write(tree.Path("link.npy"), array).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(tree.Path("link.npy")));
  EXPECT_EQ(Contents(tree.Path("old.npy")).size(), 128U + 12U);
  struct stat info = {};
  ASSERT_EQ(stat(tree.Path("old.npy").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
  EXPECT_EQ(FilesIn(tree.root()), 2U);
}

}  // namespace
}  // namespace lanewise::npy
