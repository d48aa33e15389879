/** Something that a command needs is missing. The message is a sentence for the owner of the server. */
export class RequirementNotMet extends Error {
  override readonly name = 'RequirementNotMet'
}
