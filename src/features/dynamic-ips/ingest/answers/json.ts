import { type Static, Type } from '@sinclair/typebox'
import { invalid, Problem, tooManyRequests } from '../../../../core/problem'
import { Nullable, Shape, Words } from '../../../../core/shapes'
import { challenge, type Outcome } from '../outcome'

export const DynamicIpReceipt = Shape(
  {
    changed: Type.Boolean({ description: 'Whether the report changed anything.' }),
    ipv4: Nullable(Type.String(), { description: 'Current IPv4 address; null if none.' }),
    ipv6: Nullable(Type.String(), { description: 'Current IPv6 address; null if none.' }),
    prefix6: Nullable(Type.String(), { description: 'Current IPv6 prefix; null if none.' }),
    hosts: Type.Array(
      Shape(
        {
          name: Type.String({ description: 'Fully qualified name.' }),
          result: Words(['changed', 'unchanged', 'failed'], { description: 'What happened to the records of the host.' }),
          problem: Nullable(
            Shape(
              {
                code: Type.String({ description: 'Machine-readable reason.' }),
                detail: Type.String({ description: 'What is wrong, and what to do.' }),
              },
              { $id: 'DynamicIpReceiptProblem', description: 'Why the records of a host can’t be set.' },
            ),
            { description: 'Why the records can’t be set; null if they can.' },
          ),
        },
        { $id: 'DynamicIpReceiptHost', description: 'The result for a host.' },
      ),
      { description: 'The hosts of the report, in its order.' },
    ),
  },
  {
    $id: 'DynamicIpReceipt',
    description: 'What a report of a client changed.',
    examples: [
      {
        changed: true,
        ipv4: '203.0.113.42',
        ipv6: null,
        prefix6: null,
        hosts: [{ name: 'office.example.com', result: 'changed', problem: null }],
      },
    ],
  },
)

/** @throws Problem 401, 422, 429, 503 */
export function receiptOf(outcome: Outcome): Static<typeof DynamicIpReceipt> {
  switch (outcome.kind) {
    case 'reported': {
      const { changed, ipv4, ipv6, prefix6, hosts } = outcome
      return {
        changed,
        ipv4,
        ipv6,
        prefix6,
        hosts: hosts.map(({ name, result, problem }) => ({
          name,
          result: result === 'changed' || result === 'unchanged' ? result : 'failed',
          problem,
        })),
      }
    }
    case 'unauthorized':
      throw new Problem('invalid_token', outcome.detail, { headers: challenge })
    case 'refused':
      throw invalid([{ pointer: outcome.code === 'dnserr' ? '#' : '#/hosts', code: outcome.code, detail: outcome.detail }])
    case 'later': {
      if (outcome.isRateLimit) throw tooManyRequests(outcome.retryAfterSeconds)
      throw new Problem('overloaded', outcome.detail, { headers: { 'Retry-After': String(outcome.retryAfterSeconds) } })
    }
  }
}
