import { useState } from 'react'
import type { DynamicIpClientConfigView } from '../../../features/dynamic-ips/configs/shapes'
import type { Page } from '../../client'
import { Code, CopyableText } from '../../parts/code'
import { Select } from '../../parts/input'
import { Facts } from '../../parts/page'
import { TextWithCode } from '../../parts/text-with-code'
import { useOne } from '../../queries'

/** How to configure a client for a source. @param token while it is known */
export function ClientConfigs({ id, token }: { id: string; token?: string | null }) {
  const { data: rows = [] } = useOne<Page<DynamicIpClientConfigView>>(`/dynamic-ips/${id}/client-configs`).data ?? {}
  const [selected, setSelected] = useState('')
  const shown = rows.find(one => one.client === selected) ?? rows[0]
  if (!shown) return null
  const withToken = (text: string) => (token ? text.replaceAll('{{TOKEN}}', token) : text)
  // Values of fields, instead of files.
  const values = shown.files.filter(one => one.language === 'text' && !one.content.includes('\n'))
  return (
    <div className="flex flex-col gap-3">
      <Select
        aria-label="Client"
        value={shown.client}
        onText={setSelected}
        choices={rows.map(one => [one.client, one.title] as const)}
        className="h-9 w-full sm:w-60"
      />
      <ol className="list-decimal space-y-1 pl-5">
        {shown.steps.map(step => (
          <li key={step} className="wrap-anywhere">
            <TextWithCode text={step} />
          </li>
        ))}
      </ol>
      {values.length > 0 && (
        <Facts rows={values.map(one => [one.name, <CopyableText text={withToken(one.content)} label={one.name} />])} />
      )}
      {shown.files
        .filter(one => !values.includes(one))
        .map(({ name, content }) => (
          <Code key={name} label={name} text={withToken(content)} wrap />
        ))}
      {shown.notes.map(note => (
        <p key={note} className="text-[13px] text-muted wrap-anywhere">
          <TextWithCode text={note} />
        </p>
      ))}
    </div>
  )
}
