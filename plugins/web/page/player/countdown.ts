/** The countdown to the next video. */
import { useEffect, useRef, useState } from 'preact/hooks'

const NEXT_S = 8

/**
 * @param go  the newest one is called, because the next video may change meanwhile
 * @returns the remaining seconds; `stop` cancels it
 */
export function useCountdown(isOn: boolean, go: () => void): { left: number; isStopped: boolean; stop: () => void } {
  const [left, setLeft] = useState(NEXT_S)
  const newest = useRef(go)
  newest.current = go
  const [isStopped, setStopped] = useState(false)
  useEffect(() => {
    if (isStopped || !isOn) return
    const timer = setTimeout(() => (left > 1 ? setLeft(left - 1) : newest.current()), 1000)
    return () => clearTimeout(timer)
  }, [left, isStopped, isOn])
  return { left, isStopped, stop: () => setStopped(true) }
}
