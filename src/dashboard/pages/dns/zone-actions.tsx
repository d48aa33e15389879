import { Download, ListChecks, RefreshCw, Upload } from 'lucide-react'
import { useState } from 'react'
import type { ZoneLint } from '../../../features/dns/lint/shapes'
import type { ZoneView } from '../../../features/dns/zones/shapes'
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

/** Actions for a whole zone: import, export, lint and refresh from the providers. */
export function ZoneActions({ zone, onImport }: ZoneActionsProps) {
  const { canWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  const [isLintOpen, setLintOpen] = useState(false)
  // Linting a long zone takes a while: only on request.
  const lint = useOne<ZoneLint>(isLintOpen || zone.record_count <= maxAutoLinted ? `${path}/lint` : null)
  const refresh = useSend({ toast: 'Refreshing from providers', invalidates: [path] })
  const found = lint.data?.findings ?? []
  return (
    <>
      {found.length > 0 && (
        <Button onClick={() => setLintOpen(true)} icon={ListChecks}>
          {found.length === 1 ? '1 issue' : `${found.length.toLocaleString()} issues`}
        </Button>
      )}
      {canWrite && (
        <Button onClick={onImport} icon={Upload}>
          Import
        </Button>
      )}
      <Menu
        label="Zone actions"
        items={[
          { label: 'Check for issues', icon: ListChecks, onSelect: () => setLintOpen(true) },
          '-',
          { label: 'Export as zone file', icon: Download, onSelect: () => void save(zone, 'bind').catch(toast.error) },
          { label: 'Export as JSON', icon: Download, onSelect: () => void save(zone, 'json').catch(toast.error) },
          canWrite && zone.sync.targets.length > 0
            ? {
                label: 'Refresh from providers',
                icon: RefreshCw,
                onSelect: () => refresh.mutate({ method: 'POST', path: `${path}/refresh`, body: {} }),
              }
            : null,
        ]}
      />
      <Dialog
        open={isLintOpen}
        onClose={() => setLintOpen(false)}
        title="Issues"
        description="Settings that are valid but usually a mistake."
        wide
      >
        {lint.data && found.length === 0 && <p>No issues found.</p>}
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
        {lint.data?.truncated && <p className="text-muted">There are more issues than shown here.</p>}
      </Dialog>
    </>
  )
}

const maxAutoLinted = 2000

/** Downloads a zone as a file. */
async function save(zone: ZoneView, format: 'bind' | 'json'): Promise<void> {
  const accept = format === 'bind' ? 'text/dns' : 'application/json'
  const text = await call<string>({ method: 'GET', path: `/dns/zones/${zone.id}/export`, query: { format }, accept })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: accept }))
  link.download = `${zone.name.replaceAll('/', '-')}.${format === 'bind' ? 'zone' : 'json'}`
  link.click()
  URL.revokeObjectURL(link.href)
}
