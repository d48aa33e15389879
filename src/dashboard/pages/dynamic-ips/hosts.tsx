import { Link } from '@tanstack/react-router'
import type { DynamicIpView } from '../../../features/dynamic-ips/shapes'
import { Mono } from '../../parts/code'
import { ListCard } from '../../parts/list-card'
import { Status, StatusIcon } from '../../parts/status'
import { TextWithCode } from '../../parts/text-with-code'
import { ElapsedTime } from '../../parts/time'

type Host = DynamicIpView['hosts'][number]

/** The hosts of a source with their records and problems. */
export const Hosts = ({ source: { hosts } }: { source: DynamicIpView }) => (
  <ListCard
    title="Hosts"
    rows={hosts}
    keyOf={one => one.name}
    empty="No hosts. Reported addresses are stored, but no records are updated. Edit the source to add hosts."
    rowClass="flex flex-col gap-1"
  >
    {host => (
      <>
        <p className="flex flex-wrap items-baseline gap-x-3">
          <Link
            to="/dns/zones/$id"
            params={{ id: host.zone_id }}
            search={{ q: host.name }}
            className="font-medium text-accent wrap-anywhere hover:underline"
          >
            {host.name}
          </Link>
          {host.mode === 'prefix' && (
            <span className="text-[13px] text-muted">
              IPv6 prefix with suffix <Mono>{host.suffix6}</Mono>
            </span>
          )}
        </p>
        {host.records.map(one => (
          <p key={one.record_id} className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px]">
            <span className="w-11">{one.type}</span>
            <Mono>{one.content}</Mono>
            <span className="text-muted">TTL {one.ttl.toLocaleString()} s</span>
            <Status status={one.synced ? 'synced' : 'pending'} />
          </p>
        ))}
        {host.problem !== null && <Problem problem={host.problem} />}
        {host.records.length === 0 && host.problem === null && <p className="text-[13px] text-muted">No records yet.</p>}
      </>
    )}
  </ListCard>
)

const Problem = ({ problem: { detail, since_at: since } }: { problem: NonNullable<Host['problem']> }) => (
  <p className="flex items-start gap-1.5 text-[13px] text-bad">
    <StatusIcon status="failed" className="mt-0.5 size-3.5" />
    <span className="min-w-0 wrap-anywhere">
      <TextWithCode text={detail} />{' '}
      <span className="text-muted">
        Failing for <ElapsedTime at={since} />. Bailiwick keeps retrying.
      </span>
    </span>
  </p>
)
