/**
 * Signed addresses for devices without a cookie: each opens one path for some hours, as long as the session that
 * requested it exists.
 */
import { type Clock, epochSeconds, type Signing } from 'archivolt'

const LASTS_SECONDS = 6 * 3600
const SIGNED = /^(\d{1,12})\.([\w-]{1,64})\.([\w-]{43})$/

export interface SignedLink {
  /** The value of `signed` in the query. */
  signed: string
  /** Epoch seconds. */
  expires: number
}

export function openDeviceLinks({ signing, clock }: { signing: Signing; clock: Clock }) {
  const textOf = (path: string, session: string, expires: number) => `${expires}:${session}:${path}`
  const now = () => epochSeconds(clock)
  return {
    /** @param session  hash of the session */
    sign(path: string, session: string): SignedLink {
      const expires = now() + LASTS_SECONDS
      const signature = signing.sign('link', textOf(path, session, expires)).toString('base64url')
      return { signed: `${expires}.${session}.${signature}`, expires }
    },
    /** @returns the hash of the session; undefined: not signed here for this path, or no longer valid */
    read(path: string, signed: string): string | undefined {
      const [, expires, session, signature] = SIGNED.exec(signed) ?? []
      if (!session || !signature || Number(expires) <= now()) return undefined
      return signing.isSigned('link', textOf(path, session, Number(expires)), signature) ? session : undefined
    },
  }
}
