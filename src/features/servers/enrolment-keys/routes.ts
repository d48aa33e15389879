import { crud } from '../../../api/crud'
import { area } from '../../../api/route'
import { createEnrolmentKey, deleteEnrolmentKey, enrolmentKeyListing, getEnrolmentKey, listEnrolmentKeys } from './enrolment-keys'
import { EnrolmentKey, EnrolmentKeyInput, EnrolmentKeyList, EnrolmentKeyWithSecret } from './shapes'

export const enrolmentKeyRoutes = area(
  'enrolment-keys',
  'Servers and cloud',
  crud({
    type: 'enrolment_key',
    response: EnrolmentKey,
    list: {
      description: 'Lists the enrolment keys. A key is deleted a week after it expired.',
      listing: enrolmentKeyListing,
      response: EnrolmentKeyList,
      run: listEnrolmentKeys,
    },
    create: {
      description:
        'Creates a key with which agents are enrolled, such as for a golden image or a playbook. It is shown only once, in this response. ' +
        'For a single server, `POST /v1/servers/{id}/agent` and `POST /v1/agents` also return the command to run on it.',
      body: EnrolmentKeyInput,
      response: EnrolmentKeyWithSecret,
      secretFields: ['key'],
      problems: ['conflict'],
      run: (ctx, input) => createEnrolmentKey(ctx, input, created => created),
    },
    get: { description: 'Returns an enrolment key, without the key itself.', run: getEnrolmentKey },
    delete: {
      description:
        'Deletes an enrolment key, so that it can’t be used anymore. Agents that were enrolled with it are not affected, but those that await approval have to be enrolled again with another key.',
      run: deleteEnrolmentKey,
    },
  }),
)
