/**
 * Signed addresses for programs that can only store an address: each opens a path and everything below it with the
 * rights of an account, until the account's password changes. The issuer revokes an address by removing its path.
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
    /** @returns the signature, to be appended to the path. @param untilPin  it also ends when the PIN is changed */
    sign(path: string, holder: UserRow, untilPin = false): string {
      const text = textOf(untilPin ? `${holder.pin}:${path}` : path, holder)
      return `${holder.id}.${signing.sign('lasting-link', text).toString('base64url')}`
    },
    /** @returns the account's id; undefined: not signed here for this path, or no longer valid */
    read(path: string, signed: string): number | undefined {
      const [, id, signature] = SIGNED.exec(signed) ?? []
      const holder = id === undefined ? undefined : users.get(Number(id))
      if (!holder || !signature) return undefined
      return signing.isSigned('lasting-link', textOf(path, holder), signature) ? holder.id : undefined
    },
  }
}
