import { kindView } from '../../../adapters/kinds'
import { onePage, type Page } from '../../../core/shapes'
import { providerKinds } from '../providers'
import type { DnsProviderKindView } from './shapes'

/** Lists all kinds of external providers on one page. */
export const listProviderKinds = (): Page<DnsProviderKindView> =>
  onePage(
    providerKinds.map(kind => ({
      ...kindView(kind),
      capabilities: {
        unit: kind.caps.unit,
        atomic: kind.caps.atomic,
        compare_and_swap: kind.caps.cas,
        unsupported_types: [...kind.caps.unsupported],
        min_ttl: kind.caps.ttl.min,
        max_ttl: kind.caps.ttl.max,
        alias: kind.caps.alias,
        apex_ns: kind.caps.apexNs,
        preserves_txt_strings: !kind.caps.rechunksTxt,
      },
    })),
  )
