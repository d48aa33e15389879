import { useEffect, useState } from 'react'
import type { DnsRecordCheckResult } from '../../../../features/dns/records/shapes'
import { call, ApiError } from '../../../client'

const debounceMs = 300

interface Checked {
  /** The record as it would be saved; null while unknown. */
  result: DnsRecordCheckResult | null
  /** The validation error; null if there is none. */
  refused: ApiError | null
}

const unknown: Checked = { result: null, refused: null }

/** Validates a record against the API while typing, debounced. @param body null to skip */
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
      call<DnsRecordCheckResult>(
        { method: 'POST', path: `/dns/zones/${zoneId}/records/check`, body: JSON.parse(text) },
        stop.signal,
      ).then(
        result => setChecked({ result, refused: null }),
        (error: unknown) => {
          if (error instanceof ApiError) setChecked({ result: null, refused: error })
        },
      )
    }, debounceMs)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [zoneId, text])
  return checked
}
