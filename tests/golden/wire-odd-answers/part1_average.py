"""Answers each call with another malformed value."""

import gc
import os
import struct

# INSERT wrong


answers = [
    "{\"error\": 1}",
    "{\"error\": {\"type\": 1, \"message\": 2, \"traceback\": 3, \"bases\": 4}}",
    "{\"value\": {\"tensor\": 0}}",
    "{\"value\": {\"tensor\": -1}}",
    "{\"value\": {\"dict\": [[{\"list\": []}, 1]]}}",
    "{\"value\": {\"dtype\": \"nn\"}}",
    "{\"value\": {\"meta\": {\"shape\": [-1], \"dtype\": \"float32\"}}}",
    "{\"value\": {\"meta\": {\"shape\": [1e99], \"dtype\": \"float32\"}}}",
    "{\"value\": {\"generator\": -1}}",
    "{\"value\": {\"handle\": [true, []]}}",
    "{\"value\": {\"node\": 1}}",
    "{\"value\": 1e999}",
    "{\"value\": 1e400, \"changed\": []}",
    "{\"changed\": {\"dict\": [[1, 2]]}}",
    "{\"gradients\": {\"list\": [1]}}",
    "{\"value\": {\"list\": {\"a\": 1}}, \"requires_grad\": true}",
    "[1]",
    "{}",
    "\"text\"",
    "{\"value\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}",
]


def odd(x, *args, **kwargs):
    number = max([m["id"] for m in gc.get_objects() if type(m) is dict and "id" in m and "op" in m], default=3)
    answer = answers[int(x.double().abs().sum() * 997) % len(answers)].strip()
    head = ('{"id": %d, %s' % (number, answer[1:])).encode() if answer.startswith("{\"") else answer.encode()
    os.write(3, struct.pack("!II", len(head), 0) + head)
    return x


prefix_mean_loop = prefix_mean_matmul = masked_softmax = prefix_mean_softmax = odd
