import type { Drift } from '../../../../features/dns/drift/shapes'
import { Card } from '../../../parts/page'
import { useProviderNames } from '../provider-names'
import { RrsetName } from '../rrset-diff'

/** What exists at the providers and is not an ordinary rrset. */
export function ForeignEntries({ entries }: { entries: Drift['foreign'] }) {
  const nameOf = useProviderNames()
  if (entries.length === 0) return null
  return (
    <Card title="Managed at the provider" className="mt-4">
      <p className="mb-3 text-muted">
        These are not ordinary records, so Bailiwick shows them but doesn’t change them. A record with the same name and type
        can’t be synced.
      </p>
      <ul className="divide-y divide-line">
        {entries.map((one, place) => (
          <li
            key={place}
            className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2 [contain-intrinsic-size:auto_2.5rem] [content-visibility:auto]"
          >
            <span className="font-medium">
              <RrsetName name={one.name} type={one.type} />
            </span>
            <span className="min-w-0 grow wrap-anywhere">{one.detail}</span>
            <span className="text-[13px] text-muted">{nameOf(one.provider_id)}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
