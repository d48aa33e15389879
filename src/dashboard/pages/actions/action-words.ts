import type { ActionView } from '../../../features/actions/shapes'
import { wordsOf } from '../../parts/status'

/** What is done, readable: `webhook_endpoint.recover` is «Recover webhook endpoint». */
export function titleOf({ type }: ActionView): string {
  const [resource = '', ...verb] = type.split('.')
  const words = `${wordsOf(verb.join(' '))} ${wordsOf(resource)}`.trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
