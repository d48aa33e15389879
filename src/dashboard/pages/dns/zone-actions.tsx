import { Download, ListChecks, RefreshCw, Upload } from 'lucide-react'
import { useState } from 'react'
import type { ZoneLint, ZoneView } from '../../../features/dns/zone-shapes'
import { call } from '../../client'
import { Button } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { Menu } from '../../parts/menu'
import { Tag } from '../../parts/status'
import { toast } from '../../parts/toast'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'

interface ZoneActionsProps {
  zone: ZoneView
  onImport(): void
}

/** What can be done with a whole zone: in and out as a zone file, what is often a mistake, a look at its providers. */
export function ZoneActions({ zone, onImport }: ZoneActionsProps) {
  const { mayWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  const [isLintOpen, setLintOpen] = useState(false)
  // A long zone takes a while to look through: when it is asked for.
  const lint = useOne<ZoneLint>(isLintOpen || zone.record_count <= mostLinted ? `${path}/lint` : null)
  const refresh = useSend({ done: 'The providers are being read', stale: [path] })
  const found = lint.data?.findings ?? []
  return (
    <>
      {found.length > 0 && (
        <Button onClick={() => setLintOpen(true)} icon={<ListChecks className="size-4" aria-hidden />}>
          {found.length === 1 ? '1 finding' : `${found.length.toLocaleString()} findings`}
        </Button>
      )}
      {mayWrite && (
        <Button onClick={onImport} icon={<Upload className="size-4" aria-hidden />}>
          Import
        </Button>
      )}
      <Menu
        label="More with the zone"
        items={[
          {
            label: 'Look for mistakes',
            icon: <ListChecks className="size-4" aria-hidden />,
            onSelect: () => setLintOpen(true),
          },
          '-',
          {
            label: 'Export as zone file',
            icon: <Download className="size-4" aria-hidden />,
            onSelect: () => void save(zone, 'bind').catch(toast.failed),
          },
          {
            label: 'Export as JSON',
            icon: <Download className="size-4" aria-hidden />,
            onSelect: () => void save(zone, 'json').catch(toast.failed),
          },
          mayWrite && zone.sync.targets.length > 0
            ? {
                label: 'Read the providers now',
                icon: <RefreshCw className="size-4" aria-hidden />,
                onSelect: () => refresh.mutate({ method: 'POST', path: `${path}/refresh`, body: {} }),
              }
            : null,
        ]}
      />
      <Dialog
        open={isLintOpen}
        onClose={() => setLintOpen(false)}
        title="Findings"
        description="What is allowed, and most often a mistake."
        wide
      >
        {lint.data && found.length === 0 && <p>Nothing was found.</p>}
        <ul className="divide-y divide-line">
          {found.map(one => (
            <li key={`${one.rule} ${one.name} ${one.type} ${one.detail}`} className="py-2">
              <p>
                <code className="font-mono text-[13px]">{one.name}</code> <Tag>{one.type}</Tag>
              </p>
              <p className="mt-0.5">{one.detail}</p>
              <p className="text-[13px] text-muted">{one.reference}</p>
            </li>
          ))}
        </ul>
        {lint.data?.truncated && <p className="text-muted">There are more of them.</p>}
      </Dialog>
    </>
  )
}

const mostLinted = 2000

/** Hands the browser a zone as a file. */
async function save(zone: ZoneView, format: 'bind' | 'json'): Promise<void> {
  const accept = format === 'bind' ? 'text/dns' : 'application/json'
  const text = await call<string>({ method: 'GET', path: `/dns/zones/${zone.id}/export`, query: { format }, accept })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: accept }))
  link.download = `${zone.name.replaceAll('/', '-')}.${format === 'bind' ? 'zone' : 'json'}`
  link.click()
  URL.revokeObjectURL(link.href)
}
