"""Every figure of eight jobs on four kinds of instance and more cores, asked of the binary, of the Python module and,
where a table can state the job, of `validate`: equal to the last digit."""
import csv
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import trnsim

TRAINING = pathlib.Path(__file__).resolve().parents[2] / "validation/tables/training.csv"
BINARY = os.environ["TRNSIM_BINARY"]
SECTIONS = ("machine", "job", "plan", "cost", "utilisation", "memory")
JOBS = (
    ("bert_emotion", {"instance_type": "trn1.2xlarge"}),
    ("bert_emotion", {"instance_type": "trn1.32xlarge", "nproc_per_node": 8}),
    ("bert_emotion", {"instance_type": "trn2.3xlarge", "nproc_per_node": 4}),
    ("bert_tweets", {"instance_type": "trn1.32xlarge"}),
    ("bert_tweets", {"instance_type": "trn1n.32xlarge", "nproc_per_node": 2}),
    ("vit_mnist", {"instance_type": "trn1.2xlarge"}),
    ("t5_small_summarize", {"instance_type": "trn1n.32xlarge"}),
    ("llama2_7b_dolly", {"instance_type": "trn1.32xlarge"}),
)


def printed(*arguments):
    done = subprocess.run([BINARY, *arguments, "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def flags(settings):
    return [word for name, value in settings.items() for word in (f"--{name}", str(value))]


def figures(result):
    """The numbers of result.json by their keys, in all sections of figures."""
    return {name: value for section in SECTIONS for name, value in result.get(section, {}).items()
            if isinstance(value, (int, float))}


class EveryWay(unittest.TestCase):
    def compare(self, way, want, got, least=40):
        shared = want.keys() & got.keys()
        self.assertGreaterEqual(len(shared), least, way)
        for name in sorted(shared):
            self.assertEqual(got[name], want[name], f"{way}: {name}")

    def test_the_module_has_the_figures_of_the_binary(self):
        for job, place in JOBS:
            with self.subTest(job=job, **place), tempfile.TemporaryDirectory() as folder:
                want = figures(printed("run", job, *flags(place), "--mode", "timed", "--suggestions", "0",
                                       "--output_dir", folder + "/binary"))
                self.compare("project", want, figures(trnsim.project(job, suggestions=0, **place).result))
                run = trnsim.run(job, mode="timed", suggestions=0, output_dir=folder + "/module", **place)
                self.compare("run", want, figures(run.result))
                self.compare("open", want, figures(trnsim.open(folder + "/binary").result))
                axes = {name: [value] for name, value in place.items()}
                self.compare("sweep", want, trnsim.sweep(job, axes, processes=1)[0], least=35)
                own = [row for row in trnsim.cost(run) if row["basis"] == "the job's own time"]
                self.assertEqual([row["seconds"] for row in own], [want["train_runtime"]])

    def test_a_table_that_states_the_job_predicts_its_time(self):
        with open(TRAINING, newline="") as table:
            published = next(row for row in csv.DictReader(table) if row["id"] == "emotion_512")
        for job, place in JOBS:
            if job != "bert_emotion":  # a row of Dolly counts tokens, a run its rounded steps; of others there is none
                continue
            with self.subTest(**place), tempfile.TemporaryDirectory() as folder:
                told = trnsim.project(job, suggestions=0, **place)
                row = {**published, "instance": place["instance_type"], "cores": told.cores, "dp": told.cores,
                       "metric": "minutes", "value": 1, "low": 1, "high": 1}
                file = pathlib.Path(folder) / "table.csv"
                with open(file, "w", newline="") as out:
                    table = csv.DictWriter(out, row)
                    table.writeheader()
                    table.writerow(row)
                minutes = told.train_runtime * (1 / 60)  # as the metric's factor: a division rounds otherwise
                for way, rows in (("validate", printed("validate", str(file))), ("module", trnsim.validate(file).rows)):
                    self.assertEqual([row["predicted"] for row in rows], [minutes], way)

    def test_a_row_of_timed_steps_is_the_step_of_the_run(self):
        told = trnsim.project("vit_mnist", suggestions=0)
        for rows in (printed("validate", str(TRAINING), "--only", "vit_mnist"),
                     trnsim.validate(TRAINING, only="vit_mnist").rows):
            self.assertAlmostEqual(rows[0]["predicted"] / 1000 / told.step_seconds, 1, places=14)


if __name__ == "__main__":
    unittest.main()
