import { Download, ListChecks, RefreshCw, ServerCog, Upload } from 'lucide-react'
import type { ZoneLint } from '../../../features/dns/lint/shapes'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import { call } from '../../client'
import { Mono } from '../../parts/code'
import { Button } from '../../parts/button'
import { TextField } from '../../parts/form'
import { saveFile } from '../../parts/files'
import { Menu } from '../../parts/menu'
import { openDialog, openForm } from '../../parts/open-dialog'
import { Tag } from '../../parts/status'
import { toast } from '../../parts/toast'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'
import { importZone } from './import-dialog'
import { importZoneFrom } from './import-from-dialog'

/** Actions for a whole zone: import, export, lint and refresh from the providers. */
export function ZoneActions({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  // Linting a long zone takes a while: only on request.
  const lint = useOne<ZoneLint>(zone.record_count <= maxAutoLinted ? `${path}/lint` : null)
  const refresh = useSend({ toast: 'Refreshing from providers', invalidates: [path] })
  const found = lint.data?.findings ?? []
  const showIssues = () =>
    openDialog({
      title: 'Zone issues',
      description: 'Records and settings that are valid, but usually a mistake.',
      wide: true,
      content: <Issues path={path} />,
    })
  return (
    <>
      {found.length > 0 && (
        <Button onClick={showIssues} icon={ListChecks}>
          {found.length === 1 ? '1 issue' : `${found.length.toLocaleString()} issues`}
        </Button>
      )}
      {canWrite && (
        <Button onClick={() => importZone(zone)} icon={Upload}>
          Import zone file
        </Button>
      )}
      <Menu
        label="Zone actions"
        items={[
          { label: 'Check for issues', icon: ListChecks, onSelect: showIssues },
          canWrite ? { label: 'Import from another server', icon: ServerCog, onSelect: () => importZoneFrom(zone) } : null,
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
          canWrite && zone.sync.targets.length > 0
            ? { label: 'Refresh and accept deletions', icon: RefreshCw, onSelect: () => forceRefresh(path) }
            : null,
        ]}
      />
    </>
  )
}

/** Refreshes a zone, also if most of its records were deleted at a provider. */
const forceRefresh = (path: string) =>
  openForm({
    title: 'Refresh and accept deletions',
    description:
      'A refresh is rejected if a provider returns no records, or fewer than half as many as before. Accept the result if the missing records were deleted at the provider on purpose.',
    submitLabel: 'Refresh and accept',
    initial: { note: '' },
    call: ({ note }) => ({ method: 'POST', path: `${path}/refresh`, body: { force: true, note } }),
    send: { toast: 'Refreshing from providers', invalidates: [path] },
    fields: <TextField name="note" label="Reason" hint="Stored in the audit log." autoFocus />,
  })

function Issues({ path }: { path: string }) {
  const { data } = useOne<ZoneLint>(`${path}/lint`)
  if (!data) return null
  return (
    <>
      {data.findings.length === 0 && <p>No issues found.</p>}
      <ul className="divide-y divide-line">
        {data.findings.map(one => (
          <li key={`${one.rule} ${one.name} ${one.type} ${one.detail}`} className="py-2">
            <p>
              <Mono>{one.name}</Mono> <Tag>{one.type}</Tag>
            </p>
            <p className="mt-0.5">{one.detail}</p>
            <p className="text-[13px] text-muted">{one.reference}</p>
          </li>
        ))}
      </ul>
      {data.truncated && <p className="text-muted">There are more issues than shown here.</p>}
    </>
  )
}

const maxAutoLinted = 2000

/** Downloads a zone as a file. */
async function save(zone: ZoneView, format: 'bind' | 'json'): Promise<void> {
  const accept = format === 'bind' ? 'text/dns' : 'application/json'
  const text = await call<string>({ method: 'GET', path: `/dns/zones/${zone.id}/export`, query: { format }, accept })
  saveFile(text, `${zone.name.replaceAll('/', '-')}.${format === 'bind' ? 'zone' : 'json'}`, accept)
}
