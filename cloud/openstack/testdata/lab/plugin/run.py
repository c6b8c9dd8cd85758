"""run.py MODULE ARGUMENT...: runs the main function of a service's module.

Debian's library packages bring the modules without the commands, and Nova
looks for hypervisor drivers below nova.virt only, so this folder joins it.
"""
import importlib
import os
import sys

module = importlib.import_module(sys.argv.pop(1))
if module.__name__.startswith("nova."):
    import nova.virt
    nova.virt.__path__.append(os.path.dirname(os.path.abspath(__file__)))
sys.exit(module.main())
