import type { ZoneImported } from '../../../features/dns/record-shapes'
import { RrsetName } from './rrset-diff'

type Change = NonNullable<ZoneImported['preview']>['changes'][number]

/** What an import would do, name by name: before and after. */
export function ImportPreview({ would }: { would: ZoneImported }) {
  const { changes, change_count: count, blocked } = would.preview!
  if (count === 0) return <p className="text-muted">Nothing would change: it is all there already.</p>
  return (
    <div className="flex flex-col gap-3">
      <p>
        <strong>{would.created.toLocaleString()}</strong> added, <strong>{would.updated.toLocaleString()}</strong> changed,{' '}
        <strong>{would.deleted.toLocaleString()}</strong> removed
        {would.skipped > 0 && `; ${would.skipped.toLocaleString()} left out, since signing makes them`}.
      </p>
      {blocked.length > 0 && (
        <div role="alert" className="rounded-md bg-warn-soft p-3 text-warn">
          <p className="font-medium">This would be held back:</p>
          <ul className="list-disc pl-5">
            {blocked.map(one => (
              <li key={one.code}>{one.detail}</li>
            ))}
          </ul>
        </div>
      )}
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
          The first {changes.length.toLocaleString()} of {count.toLocaleString()}.
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
