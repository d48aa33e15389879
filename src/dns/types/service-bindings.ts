import { domain } from '../fields/names'
import { u16 } from '../fields/numbers'
import { svcParams } from '../fields/svc-params'
import { broken, recordType, type FieldsRule, type RecordType } from './record-type'

const fields = { svc_priority: u16, target_name: domain, svc_params: svcParams }

const aliasMode: FieldsRule = ({ svc_priority, svc_params }) => {
  if (svc_priority === 0 && Object.keys(svc_params).length > 0) {
    throw broken('svc_params', 'must be empty if svc_priority is 0 (alias mode)', 'RFC 9460 2.4.2')
  }
}

/** SVCB and SVCB-compatible types. */
export const serviceBindingTypes: RecordType[] = [
  recordType('SVCB', 'RFC 9460 2', fields, aliasMode),
  recordType('HTTPS', 'RFC 9460 9', fields, aliasMode),
]
