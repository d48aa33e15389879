import type { BindingDetail } from '../../../../features/dns/templates/binding-shapes'
import { Diff } from '../../../parts/diff'
import { Problem } from '../../../parts/problem'
import { Tag } from '../../../parts/status'
import { useOne } from '../../../queries'
import { RrsetName } from '../rrset-diff'

/** What a template put into a zone, and how the zone differs from that by now. */
export function BindingEdits({ id }: { id: string }) {
  const found = useOne<BindingDetail>(`/dns/template-bindings/${id}`)
  if (found.error) return <Problem error={found.error} onAgain={() => void found.refetch()} />
  if (!found.data) return <div className="h-40 animate-pulse rounded-md bg-hover" />
  const { rrsets, edits, error } = found.data
  return (
    <div className="flex flex-col gap-3">
      {error && <p className="rounded-md bg-bad-soft p-3 text-bad wrap-anywhere">{error.detail}</p>}
      {rrsets.map(one => {
        const edit = edits.find(other => other.name === one.name && other.type === one.type)
        const values = [...one.values, ...one.spf_terms]
        const ttl = (seconds: number | null) => (seconds === null ? [] : [`TTL ${seconds}`])
        const made = [...ttl(edit?.ttl?.expected ?? one.ttl), ...values].sort()
        const found = [
          ...ttl(edit?.ttl?.found ?? one.ttl),
          ...values.filter(value => !edit?.missing.includes(value)),
          ...(edit?.extra ?? []),
        ].sort()
        return (
          <section key={`${one.name} ${one.type}`} className="min-w-0">
            <h3 className="mb-1 flex items-center gap-2">
              <RrsetName name={one.name} type={one.type} />
              {!one.essential && <Tag>not essential</Tag>}
              {edit && <span className="text-[13px] text-warn">edited in the zone</span>}
            </h3>
            <Diff
              before={made}
              after={edit?.kind === 'missing' ? [] : found}
              beforeLabel="As the template made it"
              afterLabel="In the zone"
            />
          </section>
        )
      })}
      {rrsets.length === 0 && <p className="text-muted">It put nothing there.</p>}
    </div>
  )
}
