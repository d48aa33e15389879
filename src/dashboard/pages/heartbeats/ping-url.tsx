import { useState } from 'react'
import { Code, CopyableText, Mono } from '../../parts/code'
import { Disclosure } from '../../parts/disclosure'
import { Card } from '../../parts/page'
import { ToggleGroup } from '../../parts/toggle-group'
import handbook from '../../../docs/ping-examples.md?raw'
import { snippetsIn } from './snippets'

/** The ping URL, with code snippets. They come from the handbook and are tested. */
export function PingUrl({ url, isOpen }: { url: string | null; isOpen: boolean }) {
  const all = snippetsIn(handbook, url ?? '')
  const [selected, setSelected] = useState(all[0]!.title)
  if (url === null) {
    return (
      <Card title="Ping URL">
        <p className="text-muted">
          Anyone who knows the ping URL can send pings, so it is only shown to members who can edit heartbeats.
        </p>
      </Card>
    )
  }
  const shown = all.find(one => one.title === selected)!
  return (
    <Card title="Ping URL">
      <p className="mb-3">
        <CopyableText text={url} label="ping URL" />
      </p>
      <Disclosure open={isOpen} summary="How to ping" summaryClass="mb-2 w-fit font-medium">
        <p className="mb-3 text-muted">
          A request to this URL reports that the job ran. Append <Mono>/start</Mono>, <Mono>/fail</Mono>, or the exit status to
          report more. The request body, such as the output of the job, is stored with the ping.
        </p>
        <ToggleGroup
          label="Type of job"
          value={selected}
          onChange={setSelected}
          choices={all.map(one => [one.title, one.title] as const)}
          className="mb-2"
        />
        <Code text={shown.text} label={shown.title} />
      </Disclosure>
    </Card>
  )
}
