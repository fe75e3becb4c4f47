"""Replays an order on a node-link graph and prints its peak and duration.

usage: check_order.py GRAPH.json PLAN.json

Written from the definition, without Recut's code: a value lives from the step that computes it to
the last step that reads that instance; what nobody reads lives one step.
"""
import json
import sys


def replay(graph, order):
    size = {node["id"]: node["cost_ram"] for node in graph["nodes"]}
    time = {node["id"]: node["cost_cpu"] for node in graph["nodes"]}
    needs = {name: set() for name in size}
    for link in graph["links"]:
        needs[link["target"]].add(link["source"])
    latest, lives = {}, []
    for step, name in enumerate(order):
        for needed in needs[name]:
            lives[latest[needed]][2] = step  # KeyError: read before it was computed
        latest[name] = step
        lives.append([size[name], step, step])
    assert set(order) == set(size), "a node never runs"
    alive = [sum(b for b, first, last in lives if first <= step <= last) for step in range(len(order))]
    return max(alive, default=0), sum(time[name] for name in order)


if __name__ == "__main__":
    with open(sys.argv[1]) as graph_file, open(sys.argv[2]) as plan_file:
        graph, plan = json.load(graph_file), json.load(plan_file)
    peak, duration = replay(graph, plan["order"])
    assert (peak, duration) == (plan["peak"], plan["duration"]), (peak, duration)
    print(peak, duration)
