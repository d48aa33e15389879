import type { ZoneImportResult } from '../../../features/dns/exchange/shapes'
import { RrsetName } from './rrset-diff'
import { Reasons } from './sync/reasons'

type Change = NonNullable<ZoneImportResult['preview']>['changes'][number]

/** The changes an import would make, by name and type. */
export function ImportPreview({ dryRun }: { dryRun: ZoneImportResult }) {
  const { changes, change_count: count, blocked } = dryRun.preview!
  if (count === 0) return <p className="text-muted">No changes: the zone already has these records.</p>
  return (
    <div className="flex flex-col gap-3">
      <p>
        <strong>{dryRun.created.toLocaleString()}</strong> to create, <strong>{dryRun.updated.toLocaleString()}</strong> to
        update, <strong>{dryRun.deleted.toLocaleString()}</strong> to delete
        {dryRun.skipped > 0 && `; ${dryRun.skipped.toLocaleString()} DNSSEC records skipped`}.
      </p>
      {blocked.length > 0 && <Reasons reasons={blocked} />}
      <div tabIndex={0} role="region" aria-label="Changes" className="max-h-96 overflow-auto rounded-md border border-line">
        <table className="w-full text-[13px]">
          <thead className="sr-only">
            <tr>
              <th scope="col">Name and type</th>
              <th scope="col">Values</th>
            </tr>
          </thead>
          <tbody>
            {changes.map(one => (
              <tr key={`${one.name} ${one.type}`} className="align-top">
                <td className="border-b border-line px-3 py-1.5">
                  <RrsetName name={one.name} type={one.type} action={one.action} />
                </td>
                <td className="border-b border-line py-1.5 pr-3 font-mono wrap-anywhere">
                  <Values change={one} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {count > changes.length && (
        <p className="text-muted">
          Showing the first {changes.length.toLocaleString()} of {count.toLocaleString()} changes.
        </p>
      )}
    </div>
  )
}

function Values({ change: { before, after } }: { change: Change }) {
  const line = (ttl: number, value: string) => `${ttl} ${value}`
  const was = before?.values.map(value => line(before.ttl, value)) ?? []
  const is = after?.values.map(value => line(after.ttl, value)) ?? []
  return (
    <>
      {was
        .filter(one => !is.includes(one))
        .map(one => (
          <del key={`-${one}`} className="block text-bad">
            {one}
          </del>
        ))}
      {is.map(one =>
        was.includes(one) ? (
          <span key={one} className="block text-muted">
            {one}
          </span>
        ) : (
          <ins key={`+${one}`} className="block text-ok no-underline">
            {one}
          </ins>
        ),
      )}
    </>
  )
}
