import type { CloudFailure } from '../cloud'

interface ProxmoxFailure {
  failure: CloudFailure
  /** What happened, before the text of Proxmox. */
  title: string
  /** Whether a change may have been applied; null if the failure tells. */
  ambiguous: boolean | null
}

const rejected = 'Proxmox rejected the request'

/** Errors of Proxmox, which have status 500 or are the exit status of a task: only the text tells what is wrong. */
const texts: [pattern: RegExp, failure: CloudFailure, title: string][] = [
  [/can't lock file|got lock request timeout|unable to acquire lock/i, 'locked', 'Another operation is working on this guest'],
  [/detected modified configuration/i, 'locked', 'The configuration was changed at the same time'],
  [/is locked \(|^(?:VM|CT) is locked/i, 'locked', 'Another operation is working on this guest'],
  [/cluster not ready|no quorum/i, 'locked', 'The cluster has no quorum'],
  [/configuration file '[^']*' does not exist|no such (?:VM|CT)|(?:VM|CT) \d+ does not exist/i, 'not_found', 'Not found'],
  [/config file already exists|(?:VM|CT) \d+ already exists/i, 'already_exists', 'The VMID is taken'],
  [/protection mode enabled/i, 'protected', 'The server is protected'],
  [
    /no space left|not enough (?:free )?space|out of space|insufficient free|disk quota exceeded/i,
    'quota',
    'The storage is full',
  ],
  [/got timeout|timed? ?out|did not stop/i, 'timeout', 'The operation timed out on Proxmox'],
  [
    /uses local storage|non-shared storage|shrink|not allowed for linked clones|storage '[^']*' (?:does not exist|is not available)|no such cluster node|hostname lookup/i,
    'invalid',
    rejected,
  ],
]

/** Classifies an error response; null if it is not particular to Proxmox. */
export function failureOf(status: number, text: string): ProxmoxFailure | null {
  if (status === 401) return { failure: 'unauthorized', title: 'The API token was rejected', ambiguous: false }
  if (status === 403) return { failure: 'unauthorized', title: 'The API token lacks a privilege', ambiguous: false }
  if (status === 400) return { failure: 'invalid', title: rejected, ambiguous: false }
  if (status === 501) return { failure: 'refused', title: 'This version of Proxmox lacks the call', ambiguous: false }
  // A node of the cluster didn't answer the one that was asked: 595 if it couldn't connect, 596 to 599 if something failed later.
  if (status >= 595 && status <= 599)
    return { failure: 'unreachable', title: 'A node of the cluster does not respond', ambiguous: status !== 595 }
  if (status !== 500) return null
  const known = textFailure(text)
  // What Proxmox refuses in words was not done. Without words, anything can have happened.
  if (known) return { ...known, ambiguous: known.failure === 'timeout' }
  return /^(?:|internal server error|panic.*)$/i.test(text.trim())
    ? null
    : { failure: 'refused', title: rejected, ambiguous: false }
}

/** Classifies the exit status of a task that failed. It has ended, so that waiting longer doesn’t help. */
export function taskFailure(text: string): ProxmoxFailure {
  const known = textFailure(text)
  const failure = known && known.failure !== 'timeout' ? known : { failure: 'refused' as const, title: 'The task failed' }
  return { ...failure, ambiguous: false }
}

function textFailure(text: string): { failure: CloudFailure; title: string } | null {
  const found = texts.find(([pattern]) => pattern.test(text))
  return found ? { failure: found[1], title: found[2] } : null
}
