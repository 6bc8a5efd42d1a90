/**
 * Runs cleanups in reverse order. node:test runs them in the order of their registration, which would remove a folder
 * before its server has stopped.
 */

export interface Scope {
  after(cleanUp: () => Promise<void> | void): void
}

const reversed = new WeakMap<Scope, Scope>()

/** Returns the same object for the same scope. */
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
