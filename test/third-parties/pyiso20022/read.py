"""Reads the messages that are given as arguments (module and file in turn) by the classes of pyiso20022, and prints what
it found in each as one line of JSON. An element, attribute or value that the classes do not have is an error."""

import importlib
import json
import sys
import warnings

from xsdata.formats.dataclass.parsers import XmlParser
from xsdata.formats.dataclass.parsers.config import ParserConfig

warnings.simplefilter("error")
parser = XmlParser(
    config=ParserConfig(
        fail_on_unknown_properties=True, fail_on_unknown_attributes=True, fail_on_converter_warnings=True
    )
)


def document(name, path):
    family = name.split("_")[0]
    module = importlib.import_module(f"pyiso20022.{family}.{name}.{name}")
    return parser.parse(path, module.Document)


def initiation(message):
    payments = [one for batch in message.cstmr_cdt_trf_initn.pmt_inf for one in batch.cdt_trf_tx_inf]
    return [[one.pmt_id.end_to_end_id, str(one.amt.instd_amt.value), one.cdtr.nm] for one in payments]


def report(message):
    batches = message.cstmr_pmt_sts_rpt.orgnl_pmt_inf_and_sts
    return [[one.orgnl_end_to_end_id, one.tx_sts] for batch in batches for one in batch.tx_inf_and_sts]


def notification(message):
    entries = [one for each in message.bk_to_cstmr_dbt_cdt_ntfctn.ntfctn for one in each.ntry]
    return [[one.acct_svcr_ref, str(one.amt.value)] for one in entries]


readers = {"pain_001_001_09": initiation, "pain_002_001_10": report, "camt_054_001_08": notification}
for name, path in zip(sys.argv[1::2], sys.argv[2::2]):
    print(json.dumps(readers[name](document(name, path))))
