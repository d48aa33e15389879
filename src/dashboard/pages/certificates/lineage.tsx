import { Link } from '@tanstack/react-router'
import type { CertificateView } from '../../../features/certificates/shapes'
import { Card } from '../../parts/page'
import { formatDate, useNow } from '../../parts/time'
import { useList } from '../../queries'

const maxShown = 12

/** The certificates that replaced each other, as bars from the start to the end of their validity. */
export function Lineage({ certificate }: { certificate: CertificateView }) {
  const found = useList<CertificateView>('/certificates', {
    lineage_id: certificate.lineage_id,
    sort: '-not_after',
    limit: maxShown,
  })
  const now = useNow()
  const rows = found.rows.toReversed()
  if (rows.length < 2) return null
  const start = Math.min(...rows.map(one => Date.parse(one.not_before)))
  const end = Math.max(now, ...rows.map(one => Date.parse(one.not_after)))
  const place = (at: number) => ((at - start) / (end - start)) * 100
  return (
    <Card title="Lineage">
      <ol className="relative flex flex-col gap-1.5">
        {rows.map(one => {
          const [from, to] = [Date.parse(one.not_before), Date.parse(one.not_after)]
          const isThis = one.id === certificate.id
          return (
            <li key={one.id}>
              <Link
                to="/certificates/$id"
                params={{ id: one.id }}
                aria-current={isThis || undefined}
                className="block rounded hover:bg-hover"
              >
                <span className={`text-[13px] ${isThis ? 'font-medium' : 'text-muted'}`}>
                  {formatDate(from)} to {formatDate(to)}
                  {isThis && ' (this certificate)'}
                </span>
                <span className="block h-2" aria-hidden>
                  <span
                    className={`block h-2 min-w-1 rounded ${isThis ? 'bg-accent' : 'bg-idle'}`}
                    style={{ marginLeft: `${place(from)}%`, width: `${place(to) - place(from)}%` }}
                  />
                </span>
              </Link>
            </li>
          )
        })}
        <li aria-hidden className="pointer-events-none absolute inset-y-0 w-px bg-bad" style={{ left: `${place(now)}%` }} />
      </ol>
      <p className="mt-2 text-[13px] text-muted">The vertical line is now.</p>
    </Card>
  )
}
