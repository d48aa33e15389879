import type { ChangesetView, RrsetChangeView } from '../../../../features/dns/history/shapes'
import { Diff } from '../../../parts/diff'
import { formatDate } from '../../../parts/time'
import { actionOf, RrsetDiff, RrsetName, type RrsetState } from '../rrset-diff'

interface ChangedRrsetsProps {
  soa: ChangesetView['soa']
  rrsets: readonly RrsetChangeView[]
  truncated: boolean
  beforeLabel: string
  afterLabel: string
}

/** Changes of a zone by name and type, the SOA first. */
export function ChangedRrsets({ soa, rrsets, truncated, beforeLabel, afterLabel }: ChangedRrsetsProps) {
  if (!soa && rrsets.length === 0) return <p className="text-muted">No differences.</p>
  return (
    <ul className="flex flex-col gap-3">
      {soa && (
        <li className="min-w-0">
          <p className="mb-1">
            <RrsetName name="@" type="SOA" action="update" />
          </p>
          <Diff
            before={linesOfSoa(soa.before)}
            after={linesOfSoa(soa.after)}
            beforeLabel={beforeLabel}
            afterLabel={afterLabel}
            contextLines={1}
          />
        </li>
      )}
      {rrsets.map(one => (
        <li key={`${one.name} ${one.type}`} className="min-w-0 [contain-intrinsic-size:auto_6rem] [content-visibility:auto]">
          <p className="mb-1">
            <RrsetName name={one.name} type={one.type} action={actionOf(one.before, one.after)} />
          </p>
          <RrsetDiff before={stateOf(one.before)} after={stateOf(one.after)} beforeLabel={beforeLabel} afterLabel={afterLabel} />
        </li>
      ))}
      {truncated && <li className="text-muted">There are more changes than shown here.</li>}
    </ul>
  )
}

const linesOfSoa = (soa: NonNullable<ChangesetView['soa']>['before']) =>
  Object.entries(soa).map(([name, value]) => `${name} ${value}`)

function stateOf(change: RrsetChangeView['before']): RrsetState | null {
  if (!change) return null
  const { ttl, records, options, comment, tags, locked, expires_at: expiresAt } = change
  return {
    ttl,
    options,
    values: records.map(one => one.content),
    metadata: [
      ...(comment === '' ? [] : [`comment: ${comment}`]),
      ...(tags.length === 0 ? [] : [`tags: ${tags.join(', ')}`]),
      ...(locked ? ['locked'] : []),
      ...(expiresAt === null ? [] : [`expires ${formatDate(expiresAt)}`]),
    ],
  }
}
