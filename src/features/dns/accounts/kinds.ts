import type { Page } from '../../../core/shapes'
import { providerKinds } from '../providers'
import type { DnsProviderKindView } from './shapes'

/** Every protocol by which zones are kept elsewhere, on one page. */
export const listProviderKinds = (): Page<DnsProviderKindView> => ({
  data: providerKinds.map(({ kind, title, settings, secrets, destination, caps }) => ({
    kind,
    title,
    settings: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...settings },
    secrets: [...secrets],
    destination: [...destination],
    capabilities: {
      unit: caps.unit,
      atomic: caps.atomic,
      compare_and_swap: caps.cas,
      unsupported_types: [...caps.unsupported],
      min_ttl: caps.ttl.min,
      max_ttl: caps.ttl.max,
      alias: caps.alias,
      apex_ns: caps.apexNs,
      keeps_txt_strings: !caps.rechunksTxt,
    },
  })),
  pagination: { has_more: false, next_cursor: null },
})
