/**
 * The number of subscribers on the platform, shortened, with the full number as a tooltip; nothing if it is unknown.
 */
import { toCompact } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'

export const Subscribers = ({ count }: { count: number }) =>
  count > 0 ? (
    <span title={t('count.subscribers', { count })}>
      {t('channels.subscribers', { count, short: toCompact(count) })}
    </span>
  ) : null
