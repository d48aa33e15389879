import { useState } from 'react'
import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { Code, CopyableText, Mono } from '../../parts/code'
import { Disclosure } from '../../parts/disclosure'
import { Card } from '../../parts/page'
import { ToggleGroup } from '../../parts/toggle-group'
import handbook from '../../../docs/ping-examples.md?raw'
import { fittingTitle, scheduled, snippetsIn } from './snippets'

/** The ping URL, with code snippets for the schedule. They come from the handbook and are tested. */
export function PingUrl({ heartbeat }: { heartbeat: HeartbeatView }) {
  const { ping_url: url, schedule, ping_count } = heartbeat
  const [selected, setSelected] = useState(fittingTitle(schedule))
  if (url === null) {
    return (
      <Card title="Ping URL">
        <p className="text-muted">
          Anyone who knows the ping URL can send pings, so it is only shown to members who can edit heartbeats.
        </p>
      </Card>
    )
  }
  const all = snippetsIn(handbook, url)
  const shown = scheduled(
    all.find(one => one.title === selected)!,
    schedule,
  )
  return (
    <Card title="Ping URL">
      <p className="mb-3">
        <CopyableText text={url} label="ping URL" />
      </p>
      <Disclosure open={ping_count === 0} summary="How to ping" summaryClass="mb-2 w-fit font-medium">
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
        {shown.note !== null && <p className="mb-2 text-warn">{shown.note}</p>}
        <Code text={shown.text} label={shown.title} />
      </Disclosure>
    </Card>
  )
}
