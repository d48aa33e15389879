import { recordTypes } from '../../core/dns/types'
import type { Page } from '../../core/shapes'
import type { DnsRecordTypeView } from './record-shapes'
import { isMadeElsewhere } from './record-values'

/** Every type that records may have with fields of its own, on one page. */
export const listRecordTypes = (): Page<DnsRecordTypeView> => ({
  data: recordTypes
    .filter(one => !isMadeElsewhere(one.name))
    .map(({ name, reference, fields, forms }) => ({
      type: name,
      reference,
      fields: fields.map(field => ({ name: field, form: forms?.[field] ?? 'other' })),
    })),
  pagination: { has_more: false, next_cursor: null },
})
