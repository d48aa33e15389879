import { useDeferredValue, useEffect, useId, useState } from 'react'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import type { Page } from '../../../client'
import { FieldFrame, inputLook, useForm } from '../../../parts/form'
import { useOne } from '../../../queries'

const mostOffered = 10

/** A zone, chosen by typing its name. The value is its id. */
export function ZoneField() {
  const { values, set } = useForm()
  const [text, setText] = useState('')
  const list = useId()
  const asked = useDeferredValue(text.trim().toLowerCase())
  const { data } = useOne<Page<ZoneView>>('/dns/zones', { q: asked, limit: mostOffered }, { keep: true })
  const zones = data?.data ?? []
  const found = zones.find(one => one.unicode_name === asked || one.name === asked)?.id ?? ''
  useEffect(() => {
    if (values.zone_id !== found) set({ zone_id: found })
  }, [found, values.zone_id, set])
  return (
    <FieldFrame name="zone_id" label="Zone" hint={found === '' && asked !== '' ? 'No zone has this name.' : undefined}>
      {attributes => (
        <>
          <input
            {...attributes}
            list={list}
            value={text}
            onChange={event => setText(event.target.value)}
            placeholder="example.com"
            spellCheck={false}
            className={`h-9 ${inputLook} font-mono text-[13px]`}
          />
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
