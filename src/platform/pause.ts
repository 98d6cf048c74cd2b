/** A pause of a loop that others can end early. @module */

export type Pause = {
  /** Ends after `ms`, or when it is ended. */
  upTo(ms: number): Promise<void>;
  /** Ends the pause under way; later ones are not changed. */
  end(): void;
};

export function createPause(): Pause {
  let end = (): void => undefined;
  return {
    upTo: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        end = () => {
          clearTimeout(timer);
          resolve();
        };
      }),
    end: () => end(),
  };
}
