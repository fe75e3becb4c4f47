#!/usr/bin/env python3
"""Writes small memory snapshots as torch.cuda.memory._dump_snapshot does, without PyTorch.

usage: make_snapshots.py FOLDER

Each file is a training of samples/mlp.recut by an allocator of a few lines. mlp.pickle is the sample of
samples/snapshots/; the others stand beside this script:

  mlp         two AdamW steps with frames and marks of the optimizer; the first also allocates a workspace
  repeats     three steps without marks and without frames, by protocol 2
  truncated   the second half of a step: its ring buffer lost the beginning
  devices     two devices; the second has two streams, a block that a stream awaits, and expandable segments
  compiled    one step whose frames name the nodes of a compiled graph
  segments    the list of segments alone, as very old versions wrote it
  oom         a step that runs out of memory in backward
"""
import pathlib
import pickle
import sys

UNIT = 512
BASE = 0x7F0000000000

# The program of samples/mlp.recut in its order: what is written, its bytes, the line that asks for it, and what is
# freed after it. None: backward, where PyTorch has no frames.
STEP = [("hidden", 1024, 11, []), ("active", 1024, 12, ["hidden"]), ("y", 128, 13, []), ("error", 128, 21, ["y"]),
        ("square", 128, 21, []), ("loss", 4, 21, ["square"]),
        ("scale", 4, None, []), ("y_grad", 128, None, ["scale", "error"]), ("w2_grad", 512, None, []),
        ("b2_grad", 16, None, []), ("active_grad", 1024, None, ["y_grad"]),
        ("hidden_grad", 1024, None, ["active_grad", "active"]), ("w1_grad", 2048, None, []),
        ("b1_grad", 128, None, ["hidden_grad"])]
PARAMETERS = {"w1": 2048, "b1": 128, "w2": 512, "b2": 16, "x": 512, "target": 128}
GRADIENTS = ["w2_grad", "b2_grad", "w1_grad", "b1_grad"]


class Device:
    """One device's allocator with its trace."""

    def __init__(self, number, stream=0, expandable=False):
        self.number, self.stream, self.expandable = number, stream, expandable
        self.trace, self.blocks, self.clock, self.top, self.segment = [], {}, 1000, 0, 2 << 20

    def event(self, action, address, size, frames=(), stream=None, **more):
        self.clock += 10
        self.trace.append({"action": action, "addr": address, "size": size,
                           "stream": self.stream if stream is None else stream, "time_us": self.clock,
                           "compile_context": more.pop("context", "N/A"), "user_metadata": "",
                           "frames": list(frames), **more})

    def alloc(self, name, size, frames=(), **more):
        address = BASE + self.number * (1 << 32) + self.top
        self.top += -(-size // UNIT) * UNIT
        self.blocks[name] = (address, size, "active_allocated")
        self.event("alloc", address, size, frames, **more)

    def request_free(self, name):
        address, size, _ = self.blocks[name]
        self.event("free_requested", address, size)
        self.blocks[name] = (address, size, "active_awaiting_free")

    def free(self, name):
        if self.blocks[name][2] == "active_allocated":
            self.request_free(name)
        address, size, _ = self.blocks.pop(name)
        self.event("free_completed", address, size)

    def segments(self):
        blocks = [{"address": address, "size": -(-size // UNIT) * UNIT, "requested_size": size, "state": state,
                   "frames": []} for address, size, state in sorted(self.blocks.values())]
        used = sum(block["size"] for block in blocks)
        blocks.append({"address": BASE + self.number * (1 << 32) + self.top, "size": self.segment - used,
                       "requested_size": 0, "state": "inactive", "frames": []})
        return [{"device": self.number, "address": BASE + self.number * (1 << 32), "total_size": self.segment,
                 "allocated_size": used, "active_size": used, "requested_size": used, "stream": self.stream,
                 "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": self.expandable,
                 "frames": [], "blocks": blocks}]


def frames_of(line):
    """The frames of a line of mlp.py, innermost first, below those of PyTorch."""
    if line is None:
        return []
    return [{"name": "forward", "filename": "/usr/lib/python3/site-packages/torch/nn/modules/module.py", "line": 134},
            {"name": "forward" if line < 20 else "loss", "filename": "/srv/train/mlp.py", "line": line}]


def start(device):
    for name, size in PARAMETERS.items():
        device.alloc(name, size)
    device.trace.clear()
    return device


def step(device, first=0, frames=frames_of, **more):
    for name, size, line, freed in STEP[first:]:
        device.alloc(name, size, frames(line) if frames is frames_of else frames(name), **more)
        for one in freed:
            device.free(one)


def optimize(device, annotations, with_state=False):
    annotations.append({"stage": "START", "name": "Optimizer.step#AdamW.step", "device": device.number,
                        "time_us": device.clock + 1})
    if with_state:
        for name in GRADIENTS:
            device.alloc(f"mean of {name}", device.blocks[name][1], frames_of(31))
    device.clock += 5
    annotations.append({"stage": "END", "name": "Optimizer.step#AdamW.step", "device": device.number,
                        "time_us": device.clock + 1})
    end_step(device)


def end_step(device):
    for name in [*GRADIENTS, "loss"]:
        device.free(name)


def snapshot(*devices, annotations=()):
    return {"segments": [one for device in devices for one in device.segments()],
            "device_traces": [device.trace for device in devices],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "garbage_collection_threshold": 0.0},
            "external_annotations": list(annotations)}


def mlp():
    device, annotations = start(Device(0)), []
    device.alloc("workspace", 4096, frames_of(11))
    step(device)
    optimize(device, annotations, with_state=True)
    step(device)
    optimize(device, annotations)
    return snapshot(device, annotations=annotations)


def repeats():
    device = start(Device(0))
    for _ in range(3):
        step(device, frames=lambda name: [])
        end_step(device)
    return snapshot(device)


def truncated():
    device = start(Device(0))
    step(device)
    at = next(i for i, event in enumerate(device.trace) if event["action"] == "free_completed")
    del device.trace[:at]
    return snapshot(device, annotations=[{"stage": "START", "name": "Optimizer.zero_grad#AdamW.zero_grad", "device": 0,
                                          "time_us": 1000}])


def devices():
    first, second = start(Device(0)), start(Device(1, expandable=True))
    second.event("segment_map", BASE + (1 << 32), 1 << 20)
    step(second)
    second.alloc("received", 8192, stream=0x55AA00)
    second.request_free("received")
    second.alloc("reduced", 8192, stream=0x55AA00)
    second.free("received")
    first.alloc("other", 1024, frames_of(41))
    return snapshot(first, second)


def compiled():
    device = start(Device(0))
    step(device, frames=lambda name: [{"name": "forward", "filename": "<eval_with_key>.3", "line": 9,
                                       "fx_node_name": name, "fx_original_trace": "mlp.py"}], context="0/0")
    return snapshot(device)


def segments():
    device = start(Device(0))
    return [{key: value for key, value in one.items() if key not in ("frames", "is_expandable", "segment_pool_id")}
            for one in device.segments()]


def oom():
    device = start(Device(0))
    for name, size, line, freed in STEP[:11]:
        device.alloc(name, size, frames_of(line))
        for one in freed:
            device.free(one)
    device.event("oom", 0, 1 << 20)
    device.trace[-1]["device_free"] = 4096
    del device.trace[-1]["addr"]
    return snapshot(device)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    protocols = {"repeats": 2, "segments": 3, "devices": 5}
    for make in (mlp, repeats, truncated, devices, compiled, segments, oom):
        with open(folder / f"{make.__name__}.pickle", "wb") as file:
            pickle.dump(make(), file, protocol=protocols.get(make.__name__, 4))


if __name__ == "__main__":
    main()
