// Copyright 2026 The lanewise authors
// SPDX-License-Identifier: Apache-2.0

#include <lanewise/c_api.h>
#include <stdio.h>

// One query, three keys: the golden values of scaled dot-product attention.
int main(void) {
  const float q[] = {1, 0};
  const float k[] = {1, 0, 0, 1, 1, 1};
  const float v[] = {10, 20, 40};
  float out = 0;
  lanewise_attention_tensors tensors = {0};
  lanewise_error error;
  lanewise_status status;
  lanewise_tensor_init(&tensors.q, q, LANEWISE_F32, (const int64_t[4]){1, 1, 1, 2});
  lanewise_tensor_init(&tensors.k, k, LANEWISE_F32, (const int64_t[4]){1, 1, 3, 2});
  lanewise_tensor_init(&tensors.v, v, LANEWISE_F32, (const int64_t[4]){1, 1, 3, 1});
  lanewise_tensor_init(&tensors.out, &out, LANEWISE_F32, (const int64_t[4]){1, 1, 1, 1});
  status = lanewise_attention(&tensors, NULL, NULL, &error);
  printf("lanewise %s: %s %s %.6f\n", lanewise_version(), lanewise_status_name(status),
         error.message, (double)out);
  return status == LANEWISE_OK && out > 24.0110f && out < 24.0112f ? 0 : 1;
}
