/** How many follow a channel on the platform: short, and in full when pointed at; nothing where it does not tell. */
import { toCompact } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'

export const Subscribers = ({ count }: { count: number }) =>
  count > 0 ? (
    <span title={t('count.subscribers', { count })}>
      {t('channels.subscribers', { count, short: toCompact(count) })}
    </span>
  ) : null
