import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import { call, type Call } from '../../client'
import { Advanced, Group } from '../../parts/advanced'
import { TextareaField, Form, NumberField, SelectField, TextField, useForm, ListField, type Values } from '../../parts/form'
import { closeDialog, openDialog } from '../../parts/open-dialog'
import { toast } from '../../parts/toast'
import { queryClient, invalidatePath, useOne } from '../../queries'
import { emptyServer, fromServer, KeyFields, ServerFields } from './server-fields'

type Provider = { id: string; name: string; kind: string }

/** Creates a zone, empty or with records from elsewhere. */
export const createZone = (): void => openDialog({ title: 'Create zone', wide: true, content: <NewZone /> })

const sources = [
  ['empty', 'Empty zone'],
  ['file', 'Zone file'],
  ['server', 'Zone transfer from another name server'],
  ['account', 'Existing zone at a provider'],
  ['template', 'Template'],
] as const

function NewZone() {
  const navigate = useNavigate()
  const [created, setCreated] = useState<ZoneView | null>(null)
  const providers = useOne<{ data: Provider[] }>('/dns/providers').data?.data ?? []
  const accounts = providers.filter(one => one.kind !== 'builtin')
  const send = async (request: Call, values: Values) => {
    // If the import failed before, the zone already exists.
    const zone = created ?? (await call<ZoneView>(request))
    setCreated(zone)
    await invalidatePath(queryClient, '/dns/zones')
    const importing = importCall(zone.id, values)
    if (importing) await call(importing)
    toast.success(`Zone ${zone.unicode_name} created`, { to: `/dns/zones/${zone.id}` })
    void navigate({ to: values.source === 'template' ? `/dns/zones/${zone.id}/templates` : `/dns/zones/${zone.id}` })
  }
  let latest: Values = {}
  return (
    <Form
      initial={{
        name: '',
        provider_id: 'builtin',
        source: 'empty',
        file: '',
        from_provider: '',
        nameservers: [],
        default_ttl: null,
        ...emptyServer,
      }}
      call={given => {
        // The first is preselected, once they are loaded.
        const values = { ...given, from_provider: given.from_provider || accounts[0]?.id }
        latest = values
        return created ? importCall(created.id, values)! : { method: 'POST', path: '/dns/zones', body: bodyOf(values) }
      }}
      send={request => send(request, latest)}
      onCancel={closeDialog}
      submitLabel={created ? 'Retry import' : 'Create zone'}
    >
      <TextField
        name="name"
        label="Name"
        hint="For example, example.com. Unicode names are supported."
        autoFocus
        mono
        disabled={created !== null}
      />
      <SelectField
        name="provider_id"
        label="Provider"
        hint="Where the zone is hosted. You can add more providers in the zone settings."
        choices={providers.map(one => [one.id, one.kind === 'builtin' ? 'Built-in name server' : one.name] as const)}
      />
      <SelectField
        name="source"
        label="Initial records"
        choices={sources.filter(([word]) => word !== 'account' || accounts.length > 0)}
      />
      <SourceFields accounts={accounts} />
      <Advanced>
        <KeyGroup />
        <Group label="Name servers and TTL">
          <ListField
            name="nameservers"
            label="Name servers"
            hint="Hostnames for the NS records. Default: the name servers set for the installation. If none are set: ns1 in this zone, with the IP address from the URL of the hub, or 127.0.0.1 if the URL contains a hostname."
          />
          <NumberField
            name="default_ttl"
            label="Default TTL"
            unit="s"
            min={0}
            placeholder="3600"
            hint="For records created without a TTL. Default: 3600."
          />
        </Group>
      </Advanced>
      {created && <p className="text-muted">The zone was created, but the import failed. Fix the problem and retry.</p>}
    </Form>
  )
}

/** The key for a transfer from another name server. */
function KeyGroup() {
  const { values } = useForm()
  return values.source === 'server' && <KeyFields />
}

function SourceFields({ accounts }: { accounts: readonly Provider[] }) {
  const { values } = useForm()
  switch (values.source) {
    case 'file':
      return <TextareaField name="file" label="Zone file" rows={8} mono placeholder={'@ 3600 IN A 192.0.2.10\nwww CNAME @'} />
    case 'server':
      return <ServerFields />
    case 'account':
      return <SelectField name="from_provider" label="Provider" choices={accounts.map(one => [one.id, one.name] as const)} />
    case 'template':
      return <p className="text-muted">Choose the template and its variables in the next step.</p>
    default:
      return null
  }
}

function bodyOf({ name, provider_id: provider, nameservers, default_ttl: ttl }: Values): Values {
  return {
    name,
    ...(provider !== 'builtin' && { provider_id: provider }),
    ...((nameservers as string[]).length > 0 && { nameservers }),
    ...(ttl !== null && { default_ttl: ttl }),
  }
}

/** The request that imports the initial records; null if there are none to import. */
function importCall(id: string, values: Values): Call | null {
  const path = `/dns/zones/${id}/import`
  if (values.source === 'file') return { method: 'POST', path, body: values.file as string, contentType: 'text/dns' }
  if (values.source === 'server') return { method: 'POST', path: `${path}-from`, body: fromServer(values) }
  if (values.source === 'account') return { method: 'POST', path: `${path}-from`, body: { provider_id: values.from_provider } }
  return null
}
