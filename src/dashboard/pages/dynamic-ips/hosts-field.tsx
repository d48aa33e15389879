import { Plus, X } from 'lucide-react'
import { useDeferredValue, useId } from 'react'
import type { DynamicIpView } from '../../../features/dynamic-ips/shapes'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import type { Page } from '../../client'
import { Button } from '../../parts/button'
import { Disclosure } from '../../parts/disclosure'
import { FieldError, FieldFrame, useField, useForm, type Values } from '../../parts/form'
import { Checkbox, Input, Select } from '../../parts/input'
import { useOne } from '../../queries'

/** A host in the form, as in the API. */
export type HostValues = Omit<DynamicIpView['hosts'][number], 'zone_id' | 'ipv4' | 'ipv6' | 'records' | 'problem'> & {
  /** Null for the zone with the longest name that contains the host. */
  zone_id: string | null
}

export const newHost: HostValues = {
  name: '',
  zone_id: null,
  families: null,
  mode: 'address',
  suffix6: null,
  ttl: null,
  adopt: false,
}

/** A host in the request body, without the defaults. */
export const hostBody = ({ name, zone_id, families, mode, suffix6, ttl, adopt }: HostValues): Values => ({
  name: name.trim(),
  ...(zone_id !== null && { zone_id }),
  ...(families !== null && { families }),
  ...(mode === 'prefix' && { mode, suffix6 }),
  ...(ttl !== null && { ttl }),
  ...(adopt && { adopt }),
})

const adoptLabel = 'Replace address records that already exist'

const modes = { address: 'The reported address', prefix: 'In the reported IPv6 prefix' }

const familyChoices = [
  ['', 'Same as the source'],
  ['ipv4', 'IPv4 only'],
  ['ipv6', 'IPv6 only'],
  ['ipv4,ipv6', 'IPv4 and IPv6'],
] as const

/** The hosts of a source. */
export function HostsField() {
  const { values, set } = useForm()
  const error = useField({ name: 'hosts', label: 'Hosts' })
  const hosts = values.hosts as readonly HostValues[]
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 font-medium">Hosts</legend>
      <p className="mb-2 text-[13px] text-muted">Full names in your DNS zones. Their A and AAAA records follow the address.</p>
      <ul className="flex flex-col gap-3">
        {hosts.map((host, at) => (
          <HostFields
            key={at}
            at={at}
            host={host}
            onChange={changed => set({ hosts: hosts.map((one, other) => (other === at ? { ...one, ...changed } : one)) })}
            onRemove={() => set({ hosts: hosts.filter((_, other) => other !== at) })}
          />
        ))}
      </ul>
      <FieldError error={error} />
      <Button small className="mt-2" icon={Plus} onClick={() => set({ hosts: [...hosts, newHost] })}>
        Add host
      </Button>
    </fieldset>
  )
}

interface HostFieldsProps {
  /** Its place in the list. */
  at: number
  host: HostValues
  onChange(changed: Partial<HostValues>): void
  onRemove(): void
}

function HostFields({ at, host, onChange, onRemove }: HostFieldsProps) {
  const field = (name: string) => ({ name: `hosts.${at}.${name}`, reads: [] })
  // Errors of the hostname name it.
  useField({ ...field('adopt'), label: adoptLabel })
  return (
    <li>
      <fieldset aria-label={`Host ${at + 1}`} className="flex min-w-0 flex-col gap-3 rounded-md border border-line p-3">
        <div className="grid gap-3 sm:grid-cols-2">
          <HostName at={at} host={host} onChange={onChange} />
          <FieldFrame {...field('mode')} label="Record value" isPicked>
            {attributes => (
              <Select
                {...attributes}
                value={host.mode}
                onText={mode => onChange({ mode: mode as HostValues['mode'] })}
                choices={modes}
              />
            )}
          </FieldFrame>
          {host.mode === 'prefix' && (
            <FieldFrame
              {...field('suffix6')}
              label="IPv6 suffix"
              hint="The lower bits of the address, such as ::10, or the MAC address of a device behind the router."
            >
              {attributes => (
                <Input
                  {...attributes}
                  mono
                  value={host.suffix6 ?? ''}
                  onText={text => onChange({ suffix6: text.trim() === '' ? null : text.trim() })}
                />
              )}
            </FieldFrame>
          )}
        </div>
        <div className="flex items-start justify-between gap-3">
          <Checkbox multiline checked={host.adopt} onCheck={adopt => onChange({ adopt })}>
            {adoptLabel}
          </Checkbox>
          <Button small kind="quiet" icon={X} aria-label={`Remove host ${at + 1}`} onClick={onRemove}>
            Remove
          </Button>
        </div>
        <Disclosure
          open={host.families !== null || host.ttl !== null}
          summary="IP version and TTL"
          summaryClass="w-fit text-[13px] text-muted hover:text-ink"
        >
          <div className="mt-2 grid gap-3 sm:grid-cols-2">
            <FieldFrame {...field('families')} label="IP version" isPicked>
              {attributes => (
                <Select
                  {...attributes}
                  value={host.families?.toSorted().join() ?? ''}
                  onText={text => onChange({ families: text === '' ? null : (text.split(',') as HostValues['families']) })}
                  choices={familyChoices}
                />
              )}
            </FieldFrame>
            <FieldFrame {...field('ttl')} label="TTL" hint="In seconds. Leave empty for the TTL of the source.">
              {attributes => (
                <Input
                  {...attributes}
                  type="number"
                  value={String(host.ttl ?? '')}
                  onText={text => onChange({ ttl: text === '' ? null : Number(text) })}
                  className="h-9 max-w-32"
                />
              )}
            </FieldFrame>
          </div>
        </Disclosure>
      </fieldset>
    </li>
  )
}

const maxSuggestions = 10

/** The name of a host, with suggestions of names in the zones of the workspace. */
function HostName({ at, host, onChange }: Omit<HostFieldsProps, 'onRemove'>) {
  const list = useId()
  const [label = '', ...rest] = useDeferredValue(host.name.trim().toLowerCase()).split('.')
  const { data } = useOne<Page<ZoneView>>('/dns/zones', { q: rest.join('.'), limit: maxSuggestions }, { keepPrevious: true })
  return (
    <FieldFrame name={`hosts.${at}.name`} label="Hostname" reads={[]} also={[`hosts.${at}.zone_id`]}>
      {attributes => (
        <>
          <Input
            {...attributes}
            mono
            list={list}
            value={host.name}
            placeholder="e.g. home.example.com"
            autoComplete="off"
            // Another name can be in another zone.
            onText={name => onChange({ name, zone_id: null })}
          />
          <datalist id={list}>
            {data?.data.map(one => (
              <option key={one.id} value={label === '' ? one.name : `${label}.${one.name}`} />
            ))}
          </datalist>
        </>
      )}
    </FieldFrame>
  )
}
