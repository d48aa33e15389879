import { useDeferredValue, useEffect, useId, useState } from 'react'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import type { Page } from '../../../client'
import { FieldFrame, useForm } from '../../../parts/form'
import { Input } from '../../../parts/input'
import { useOne } from '../../../queries'

const maxSuggestions = 10

/** Zone field with suggestions by name. Its value is the zone id. */
export function ZoneField() {
  const { values, set } = useForm()
  const [text, setText] = useState('')
  const list = useId()
  const search = useDeferredValue(text.trim().toLowerCase())
  const { data } = useOne<Page<ZoneView>>('/dns/zones', { q: search, limit: maxSuggestions }, { keepPrevious: true })
  const zones = data?.data ?? []
  const found = zones.find(one => one.unicode_name === search || one.name === search)?.id ?? ''
  useEffect(() => {
    if (values.zone_id !== found) set({ zone_id: found })
  }, [found, values.zone_id, set])
  return (
    <FieldFrame name="zone_id" label="Zone" hint={found === '' && search !== '' ? 'No zone with this name.' : undefined}>
      {attributes => (
        <>
          <Input {...attributes} list={list} value={text} onText={setText} placeholder="e.g. example.com" mono />
          <datalist id={list}>
            {zones.map(one => (
              <option key={one.id} value={one.unicode_name} />
            ))}
          </datalist>
        </>
      )}
    </FieldFrame>
  )
}
