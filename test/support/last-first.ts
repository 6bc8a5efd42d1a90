/**
 * Clean-ups in reverse: node:test runs them in the order they came, which would take a folder away from under its
 * server.
 */

export interface Scope {
  after(cleanUp: () => Promise<void> | void): void
}

const reversed = new WeakMap<Scope, Scope>()

/** The same for the same scope, whoever asks. */
export function lastFirst(scope: Scope): Scope {
  const known = reversed.get(scope)
  if (known) return known
  const cleanUps: Array<() => Promise<void> | void> = []
  scope.after(async () => {
    for (let cleanUp = cleanUps.pop(); cleanUp; cleanUp = cleanUps.pop()) await cleanUp()
  })
  const made = { after: (cleanUp: () => Promise<void> | void) => void cleanUps.push(cleanUp) }
  reversed.set(scope, made).set(made, made)
  return made
}
