import { useEffect, useState } from 'react'
import type { DnsRecordChecked } from '../../../../features/dns/record-shapes'
import { call, Refused } from '../../../client'

const restMs = 300

interface Checked {
  /** As it would be; null while that is not known. */
  would: DnsRecordChecked | null
  /** What rule it breaks; null where none is known. */
  refused: Refused | null
}

const unknown: Checked = { would: null, refused: null }

/** Has the hub try out a record while it is typed: whenever the typing rests. @param body null asks nothing */
export function useCheck(zoneId: string, body: Record<string, unknown> | null): Checked {
  const text = body && JSON.stringify(body)
  const [checked, setChecked] = useState<Checked>(unknown)
  useEffect(() => {
    if (text === null) {
      setChecked(unknown)
      return
    }
    const stop = new AbortController()
    const timer = setTimeout(() => {
      call<DnsRecordChecked>(
        { method: 'POST', path: `/dns/zones/${zoneId}/records/check`, body: JSON.parse(text) },
        stop.signal,
      ).then(
        would => setChecked({ would, refused: null }),
        (error: unknown) => {
          if (error instanceof Refused) setChecked({ would: null, refused: error })
        },
      )
    }, restMs)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [zoneId, text])
  return checked
}
