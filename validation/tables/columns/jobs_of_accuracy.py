"""The published jobs of tables, for the range beside an answer: a line of trnsim/plans/accuracy.toml each."""

import csv
import sys


def regime_of(row):
    if row["kind"] == "generate":
        return "generation_each_token"
    if row["kind"] == "infer":
        return "encoder_inference"
    if int(row["nodes"] or 1) > 1:
        return "training_several_nodes"
    return "training_one_node" if int(row["cores"] or 1) > 2 else "training_one_chip"


def main():
    jobs = {}  # by regime and sizes: the first row of each model, for jobs of two models may have equal sizes
    for path in sys.argv[1:]:
        with open(path, newline="", encoding="utf-8") as table:
            for row in csv.DictReader(table):
                if row["kind"] not in ("train", "infer", "generate") or not row["layers"].isdigit():
                    continue
                sizes = " ".join([row["layers"], row["hidden"], row["cores"], row["seq_len"],
                                  row["micro_batch"] or "1", row["grad_accum"] or "1",
                                  "3" if "trn2" in row["instance"] else "2"])
                models = jobs.setdefault(f"{regime_of(row)} {sizes}", {})
                models.setdefault(row["model"].replace("-", ""), row["id"].replace(".", "_"))
    for line, models in jobs.items():
        print(f'job.{"_or_".join(models.values())} = "{line}"')


main()
