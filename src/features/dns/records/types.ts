import { recordTypes } from '../../../dns/types'
import { onePage, type Page } from '../../../core/shapes'
import type { DnsRecordTypeView } from './shapes'
import { isManagedElsewhere } from './values'

/** Lists all record types with named fields, on one page. */
export const listRecordTypes = (): Page<DnsRecordTypeView> =>
  onePage(
    recordTypes
      .filter(one => !isManagedElsewhere(one.name))
      .map(({ name, reference, fields, forms }) => ({
        type: name,
        reference,
        fields: fields.map(field => ({ name: field, type: forms?.[field] ?? 'other' })),
      })),
  )
