import type { BindingDetail } from '../../../../features/dns/templates/binding-shapes'
import { Diff } from '../../../parts/diff'
import { Problem } from '../../../parts/problem'
import { Tag } from '../../../parts/status'
import { useOne } from '../../../queries'
import { RrsetName } from '../rrset-diff'

/** Records a template added to a zone, with their differences. */
export function BindingRecords({ id }: { id: string }) {
  const found = useOne<BindingDetail>(`/dns/template-bindings/${id}`)
  if (found.error) return <Problem error={found.error} onRetry={() => void found.refetch()} />
  if (!found.data) return <div className="h-40 animate-pulse rounded-md bg-hover" />
  const { rrsets, differences, error } = found.data
  return (
    <div className="flex flex-col gap-3">
      {error && <p className="rounded-md bg-bad-soft p-3 text-bad wrap-anywhere">{error.detail}</p>}
      {rrsets.map(one => {
        const difference = differences.find(other => other.name === one.name && other.type === one.type)
        const values = [...one.values, ...one.spf_terms]
        const ttl = (seconds: number | null) => (seconds === null ? [] : [`TTL ${seconds}`])
        const expected = [...ttl(difference?.ttl?.expected ?? one.ttl), ...values].sort()
        const actual = [
          ...ttl(difference?.ttl?.actual ?? one.ttl),
          ...values.filter(value => !difference?.missing.includes(value)),
          ...(difference?.extra ?? []),
        ].sort()
        return (
          <section key={`${one.name} ${one.type}`} className="min-w-0">
            <h3 className="mb-1 flex items-center gap-2">
              <RrsetName name={one.name} type={one.type} />
              {!one.essential && <Tag>not essential</Tag>}
              {difference && <span className="text-[13px] text-warn">modified</span>}
            </h3>
            <Diff
              before={expected}
              after={difference?.kind === 'missing' ? [] : actual}
              beforeLabel="Template"
              afterLabel="Zone"
            />
          </section>
        )
      })}
      {rrsets.length === 0 && <p className="text-muted">The template added no records.</p>}
    </div>
  )
}
