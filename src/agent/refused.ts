/** Why a value of the settings is refused, after the name of its setting. */
export class Refused {
  constructor(readonly reason: string) {}
}
