/**
 * Addresses for devices that have no cookie: one path each, for some hours, as long as the session that asked for it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Clock, epochSeconds } from '../clock.ts'

const LASTS_SECONDS = 6 * 3600
const SIGNED = /^(\d{1,12})\.([\w-]{1,64})\.([\w-]{43})$/

export interface SignedLink {
  /** The value of `signed` in the query. */
  signed: string
  /** Epoch seconds. */
  expires: number
}

export interface DeviceLinks {
  /** @param session  its hash */
  sign(path: string, session: string): SignedLink
  /** @returns the hash of the session; undefined: it was not signed here for this path, or no longer holds */
  read(path: string, signed: string): string | undefined
}

export function openDeviceLinks({ secretKey, clock }: { secretKey: Buffer; clock: Clock }): DeviceLinks {
  const proofOf = (path: string, session: string, expires: number) =>
    createHmac('sha256', secretKey).update(`link:${expires}:${session}:${path}`).digest()
  const now = () => epochSeconds(clock)
  return {
    sign(path, session) {
      const expires = now() + LASTS_SECONDS
      return { signed: `${expires}.${session}.${proofOf(path, session, expires).toString('base64url')}`, expires }
    },
    read(path, signed) {
      const [, expires, session, proof] = SIGNED.exec(signed) ?? []
      if (!session || !proof || Number(expires) <= now()) return undefined
      const [expected, given] = [proofOf(path, session, Number(expires)), Buffer.from(proof, 'base64url')]
      return given.length === expected.length && timingSafeEqual(given, expected) ? session : undefined
    },
  }
}
