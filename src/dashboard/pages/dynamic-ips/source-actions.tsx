import { useNavigate } from '@tanstack/react-router'
import { Pencil, SquarePen, Trash2 } from 'lucide-react'
import type { DynamicIpView } from '../../../features/dynamic-ips/shapes'
import { LinkButton } from '../../parts/button'
import { SelectField, TextField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { openForm } from '../../parts/open-dialog'
import { PauseButton } from '../../parts/send-button'
import { changedFields, valuesFor } from '../../parts/values'
import { usePerson } from '../../session'

/** API paths that change with a source and its records. */
export const invalidates = ['/dynamic-ips', '/dns/zones', '/dns/records', '/overview']

/** The actions for a source that the user may perform. */
export function SourceActions({ source }: { source: DynamicIpView }) {
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  if (!canWrite) return null
  const { id, name, status } = source
  const path = `/dynamic-ips/${id}`
  const setAddresses = () => {
    const before = valuesFor(
      {
        ...(source.families.includes('ipv4') && { ipv4: '' }),
        ...(source.families.includes('ipv6') && { ipv6: '', prefix6: '' }),
      },
      source,
    )
    openForm({
      title: `Set addresses of ${name}`,
      description: 'As if the client had reported them. The next report replaces them.',
      submitLabel: 'Set addresses',
      initial: before,
      call: values => ({
        method: 'POST',
        path: `${path}/report`,
        body: changedFields(before, Object.fromEntries(Object.entries(values).map(([name, text]) => [name, text || null]))),
      }),
      send: { toast: 'Addresses set', invalidates },
      fields: (
        <>
          {'ipv4' in before && <TextField name="ipv4" label="IPv4 address" mono hint={removal} />}
          {'ipv6' in before && (
            <>
              <TextField name="ipv6" label="IPv6 address" mono hint={removal} />
              <TextField name="prefix6" label="IPv6 prefix" mono placeholder="e.g. 2001:db8:1::/56" hint={removal} />
            </>
          )}
        </>
      ),
    })
  }
  const remove = () =>
    openForm({
      title: `Delete ${name}?`,
      description: 'This deletes its history, and its token stops working immediately. This can’t be undone.',
      submitLabel: 'Delete source',
      danger: true,
      initial: { records: 'keep' },
      call: ({ records }) => ({ method: 'DELETE', path, query: { records: String(records) } }),
      send: { toast: `${name} deleted`, invalidates, onSuccess: () => void navigate({ to: '/dynamic-ips' }) },
      fields: (
        <SelectField
          name="records"
          label="Records of its hosts"
          hint="Records that you keep have the last address, and can be edited."
          choices={{ keep: 'Keep them', delete: 'Delete them' }}
        />
      ),
    })
  return (
    <>
      <PauseButton name={name} path={path} isPaused={status === 'paused'} invalidates={invalidates} />
      <LinkButton to="/dynamic-ips/$id/edit" params={{ id }} icon={Pencil}>
        Edit
      </LinkButton>
      <Menu
        label="More actions"
        items={[
          { label: 'Set addresses', icon: SquarePen, onSelect: setAddresses },
          '-',
          { label: 'Delete', icon: Trash2, danger: true, onSelect: remove },
        ]}
      />
    </>
  )
}

const removal = 'Leave empty to remove it.'
