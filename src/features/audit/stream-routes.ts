import { crud } from '../../api/crud'
import { area, route } from '../../api/route'
import { promoteStreamSecret, rotateStreamSecret } from './stream-secret'
import {
  AuditStream,
  AuditStreamInput,
  AuditStreamList,
  AuditStreamPatch,
  AuditStreamSecretRotation,
  AuditStreamTestResult,
  AuditStreamWithSecret,
} from './stream-shapes'
import { testStream } from './test-stream'
import { createStream, deleteStream, getStream, listStreams, streamListing, updateStream } from './streams'

export const auditStreamRoutes = area('audit-streams', 'Audit', [
  ...crud({
    type: 'audit_stream',
    response: AuditStream,
    list: {
      description: 'Lists the audit streams of the workspace with their delivery status.',
      listing: streamListing,
      response: AuditStreamList,
      run: listStreams,
    },
    create: {
      description:
        'Sends the audit log to a URL as it is written. A workspace can have up to 10 streams (409). The signing secret is shown only once, in this response. ' +
        'Messages are `{"event": "audit.entries", "data": {workspace_id, stream_id, gap, checkpoint, checkpoints, entries}}`. ' +
        '`entries` contains up to 100 entries and 64 KiB, ordered by `seq`, in the format of the export; each entry is delivered at least once. ' +
        '`checkpoints` contains the new checkpoints (signed states of the log, for verification) since the last message, and `checkpoint` the latest one. ' +
        'Undelivered entries are kept for 30 days beyond the retention of the plan (`audit_days`); `gap` is the range of entries that were deleted before they could be delivered. ' +
        'Messages are signed like webhooks, in X-Service-Signature and webhook-signature, and retried until they are delivered.',
      body: AuditStreamInput,
      response: AuditStreamWithSecret,
      secretFields: ['secret'],
      problems: ['conflict'],
      run: createStream,
    },
    get: { description: 'Returns a stream with its delivery status and the last error.', run: getStream },
    update: {
      description:
        'Updates a stream (JSON merge patch, RFC 7396). Setting `active` to false pauses the stream at its current position, and ' +
        'entries that it has not sent are no longer kept beyond the retention of the plan. Setting it back to true resumes from there. If you change the URL or the actions of a ' +
        'failing stream, it is retried immediately.',
      body: AuditStreamPatch,
      run: updateStream,
    },
    delete: { description: 'Deletes a stream. Entries that were not delivered yet are no longer sent.', run: deleteStream },
    verbs: {
      test: {
        description:
          'Sends a message without entries once and returns the result. The message has the `X-Service-Test: 1` header. ' +
          'Limited to 5 requests a minute per stream.',
        summary: 'Send a test message to an audit stream',
        response: AuditStreamTestResult,
        problems: ['rate_limited'],
        run: testStream,
      },
    },
  }),
  route({
    method: 'POST',
    path: '/v1/audit-streams/:id/secret/rotate',
    guard: 'account.write',
    action: 'account.audit_stream.rotate_secret',
    operationId: 'rotateAuditStreamSecret',
    summary: 'Rotate the signing secret of an audit stream',
    description:
      'Replaces the signing secret with the one you send, or with a generated one. It is shown only once, in this response. During the overlap, webhook-signature contains a ' +
      'signature for each secret, X-Service-Signature uses the old secret, and X-Service-Signature-Next the new one. ' +
      'When the overlap ends, the new secret replaces the old one automatically. While a rotation is in progress, another one returns 409.',
    body: AuditStreamSecretRotation,
    response: AuditStreamWithSecret,
    secretFields: ['secret'],
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params, body }) => rotateStreamSecret(ctx, params.id!, body),
  }),
  route({
    method: 'POST',
    path: '/v1/audit-streams/:id/secret/promote',
    guard: 'account.write',
    action: 'account.audit_stream.promote_secret',
    operationId: 'promoteAuditStreamSecret',
    summary: 'Promote the new signing secret of an audit stream',
    description:
      'Ends a rotation early: drops the old secret, so that messages are signed only with the new one. Returns 409 if no rotation is in progress.',
    response: AuditStream,
    problems: ['conflict', 'precondition_failed'],
    run: (ctx, { params }) => promoteStreamSecret(ctx, params.id!),
  }),
])
