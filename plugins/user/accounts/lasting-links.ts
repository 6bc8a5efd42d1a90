/**
 * Addresses for programs that keep nothing but an address: each opens one path and all below it for an account, until its
 * password is changed. Whoever hands them out ends them one by one, by a path that is gone.
 */
import type { Signing } from 'archivolt'
import type { UserRow } from './user-rows.ts'

const SIGNED = /^([1-9]\d{0,14})\.([\w-]{43})$/

export function openLastingLinks({
  signing,
  users,
}: {
  signing: Signing
  users: { get(id: number): UserRow | undefined }
}) {
  const textOf = (path: string, { id, password }: UserRow) => `${id}:${password}:${path}`
  return {
    /** @returns what stands behind the path, as `signed`. */
    sign(path: string, holder: UserRow): string {
      return `${holder.id}.${signing.sign('lasting-link', textOf(path, holder)).toString('base64url')}`
    },
    /** @returns the account's id; undefined: it was not signed here for this path, or no longer holds */
    read(path: string, signed: string): number | undefined {
      const [, id, signature] = SIGNED.exec(signed) ?? []
      const holder = id === undefined ? undefined : users.get(Number(id))
      if (!holder || !signature) return undefined
      return signing.isSigned('lasting-link', textOf(path, holder), signature) ? holder.id : undefined
    },
  }
}
