/** A result that is JSON text already, such as a page of a list that is written once and sent many times. */
export class Json {
  constructor (readonly text: string) {}
}

export const toJson = (result: object | Json): string => result instanceof Json ? result.text : JSON.stringify(result)
