import { Tags } from '../../parts/status'
import { labelsText } from './server-text'

/** The labels of a resource, as a fact. Left out if there are none. */
export const labelsFact = (labels: Record<string, string>) => {
  const tags = Object.entries(labels).map(([key, value]) => labelsText({ [key]: value }))
  return ['Labels', tags.length > 0 && <Tags key="" tags={tags} />] as const
}
